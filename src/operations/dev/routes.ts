/** The pages of --dev. These routes exist nowhere else: the mailbox shows every code. */
import { Elysia } from 'elysia'
import { hostNameOf, isLoopbackHost } from '../../platform/config/formats.ts'
import { pageAnswer } from '../../platform/http/page-answer.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import type { DevKey } from './dev-key.ts'
import type { Mailbox } from './mailbox.ts'
import { htmlPartPolicy, mailboxPage, mailboxPolicy } from './mailbox-page.ts'
import { type StartPage, startPage, startPolicy } from './start-page.ts'

const hidden = { detail: { hide: true } }

const FORWARDING_HEADERS = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'],
  ...[
    'x-forwarded-server',
    'x-forwarded-prefix',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
  ],
]

interface DevPages {
  mailbox: Mailbox
  catalog: Catalog
  key: DevKey
  start: Omit<StartPage, 'isOpen'>
}

/** The mailbox for people as a page, for programs as JSON, newest first, and a page of links at `/`. */
export function createDevRoutes({ mailbox, catalog, key, start }: DevPages) {
  const languageOf = (request: Request) => catalog.pick(request.headers.get('accept-language'))
  return new Elysia({ name: 'dev' })
    .onBeforeHandle(({ request }) => {
      // A page of another site may give its name the address of this machine, and read what is here (DNS rebinding).
      if (!isLoopbackHost(hostNameOf(request.headers.get('host')))) throw new AppError('route_not_found')
      // A reverse proxy on this machine may name it, too, and brings everybody here. Not every proxy says so: see dev-key.ts.
      if (FORWARDING_HEADERS.some((name) => request.headers.has(name))) throw new AppError('route_not_found')
    })
    .onBeforeHandle(({ request, set }) => {
      const cookie = key.cookieFor(request)
      if (cookie !== null) set.headers['set-cookie'] = cookie
    })
    .get(
      '/',
      ({ request }) => {
        const language = languageOf(request)
        const html = startPage({ ...start, isOpen: key.isIn(request) }, language, catalog.of(language))
        return page(html, startPolicy, language)
      },
      hidden,
    )
    .onBeforeHandle(({ request }) => {
      if (!key.isIn(request)) throw new AppError('route_not_found')
    })
    .get(
      '/dev/mailbox',
      ({ request }) => {
        const language = languageOf(request)
        return page(mailboxPage(mailbox.list(), language, catalog.of(language)), mailboxPolicy, language)
      },
      hidden,
    )
    .get('/dev/mailbox.json', () => mailbox.list(), hidden)
    .get(
      '/dev/mailbox/:part',
      ({ params }) => {
        const html = mailbox.findHtml(Number(/^(\d{1,15})\.html$/.exec(params.part)?.[1] ?? 0))
        return html === null ? new Response(null, { status: 404 }) : page(html, htmlPartPolicy)
      },
      hidden,
    )
    .post(
      '/dev/mailbox/clear',
      ({ request }) => {
        // A page of another site can send this form, too: it may not.
        if (request.headers.get('sec-fetch-site') === 'cross-site') return new Response(null, { status: 403 })
        mailbox.clear()
        return new Response(null, { status: 303, headers: { location: '/dev/mailbox' } })
      },
      { ...hidden, parse: 'none' },
    )
}

const page = (html: string, policy: string, language?: Language) => pageAnswer({ html, policy, language })
