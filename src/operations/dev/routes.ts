/** The pages of --dev. These routes exist nowhere else: the mailbox shows every code. */
import { Elysia } from 'elysia'
import type { Clock } from '../../platform/clock.ts'
import { hostNameOf, isLoopbackHost } from '../../platform/config/formats.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { pageAnswer } from '../../platform/http/page-answer.ts'
import { invalid, readNumber } from '../../platform/http/read-values.ts'
import { hidden, pageRoute } from '../../platform/http/route-traits.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import type { DevKey } from './dev-key.ts'
import type { Mailbox, MailboxWish } from './mailbox.ts'
import { htmlPartPolicy, mailboxPage, mailboxPolicy } from './mailbox-page.ts'
import { appCodeAt, type DevPerson } from './people.ts'
import type { SignInAs } from './sign-in-as.ts'
import { type StartPage, startPage, startPolicy } from './start-page.ts'

const aPage = hidden({ answers: 'page' })
const hiddenRoute = hidden()

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
  clock: Clock
  key: DevKey
  start: Omit<StartPage, 'isOpen' | 'people'>
  /** Filled once they are made: the service listens before that. */
  people: DevPerson[]
  /** Null without pages for people. */
  signInAs: SignInAs | null
  /** Whoever brings the key may come by another name than one of this machine, as from another container. */
  anyHost: boolean
}

/** The mailbox for people as a page, for programs as JSON, newest first, and the page at `/` where one begins. */
export function createDevRoutes(httpBase: HttpBase, pages: DevPages) {
  const { mailbox, catalog, clock, key, start, people, signInAs, anyHost } = pages
  const languageOf = (request: Request) => catalog.pick(request.headers.get('accept-language'))
  const shownPeople = () =>
    people.map((person) => ({
      ...person,
      code: person.appSecret === null ? null : appCodeAt(person.appSecret, clock.now()),
    }))
  /** For programs. */
  const listedPeople = () =>
    shownPeople().map(({ identifier, password, about, appSecret, code }) => ({
      ...{ identifier, password, about, app_secret: appSecret, code },
    }))
  const routes = new Elysia({ name: 'dev' })
    .use(httpBase)
    .onBeforeHandle(({ request }) => {
      // A page of another site may give its name the address of this machine, and read what is here (DNS rebinding).
      const isKnownHost = isLoopbackHost(hostNameOf(request.headers.get('host')))
      if (!isKnownHost && !(anyHost && key.isIn(request))) throw new AppError('route_not_found')
      // A reverse proxy on this machine may name it, too, and brings everybody here. Not every proxy says so: see dev-key.ts.
      if (FORWARDING_HEADERS.some((name) => request.headers.has(name))) throw new AppError('route_not_found')
    })
    .onBeforeHandle(({ request, set }) => {
      const cookie = key.cookieFor(request)
      if (cookie !== null) set.headers['set-cookie'] = cookie
    })
    .get(
      '/',
      ({ request, set }) => {
        const language = languageOf(request)
        const isOpen = key.isIn(request)
        const cookie = isOpen ? signInAs?.cookieFor(request) : undefined
        if (cookie) set.headers['set-cookie'] = [set.headers['set-cookie'] ?? [], cookie].flat()
        const shown = { ...start, isOpen, people: signInAs ? shownPeople() : [] }
        const answer = page(startPage(shown, language, catalog.of(language)), startPolicy, language)
        // With `no-referrer` browsers would send `Origin: null` with the form.
        answer.headers.set('referrer-policy', 'same-origin')
        return answer
      },
      aPage,
    )
    .onBeforeHandle(({ request }) => {
      if (!key.isIn(request)) throw new AppError('route_not_found', { cause: 'no_key' })
    })
    .get(
      '/dev/mailbox',
      ({ request }) => {
        const language = languageOf(request)
        return page(mailboxPage(mailbox.list(), language, catalog.of(language)), mailboxPolicy, language)
      },
      aPage,
    )
    .get(
      '/dev/mailbox.json',
      ({ request }) => mailbox.find(readWish(new URL(request.url).searchParams)),
      hiddenRoute,
    )
    .get('/dev/people.json', listedPeople, hiddenRoute)
    .get(
      '/dev/mailbox/:part',
      ({ params }) => {
        const html = mailbox.findHtml(Number(/^(\d{1,15})\.html$/.exec(params.part)?.[1] ?? 0))
        return html === null ? new Response(null, { status: 404 }) : page(html, htmlPartPolicy)
      },
      hiddenRoute,
    )
    .post(
      '/dev/mailbox/clear',
      ({ request }) => {
        // A page of another site can send this form, too: it may not.
        if (request.headers.get('sec-fetch-site') === 'cross-site') return new Response(null, { status: 403 })
        mailbox.clear()
        return new Response(null, { status: 303, headers: { location: '/dev/mailbox' } })
      },
      { ...hiddenRoute, parse: 'none' },
    )
  if (signInAs === null) return routes
  return routes.post(
    '/dev/sign-in',
    ({ request, client, body }) => signInAs.take({ request, client, body }),
    pageRoute,
  )
}

/** Asks for the key before every route of an app that may be reached from elsewhere. */
export const createKeyGate = (httpBase: HttpBase, key: DevKey) =>
  new Elysia({ name: 'dev-key' }).use(httpBase).derive({ as: 'global' }, ({ request, set }) => {
    if (!key.isIn(request)) throw new AppError('route_not_found', { cause: 'no_key' })
    const cookie = key.cookieFor(request)
    if (cookie !== null) set.headers['set-cookie'] = cookie
    return {}
  })

const LONGEST_WAIT_SECONDS = 25
const WISHES = new Set(['key', 'to', 'purpose', 'after', 'wait'])

/** A name that is not known is refused: a test would read somebody else's code. */
function readWish(query: URLSearchParams): MailboxWish {
  const unknown = [...query.keys()].filter((name) => !WISHES.has(name))
  if (unknown.length > 0) throw invalid(...unknown)
  const wait = readNumber('wait', query.get('wait') ?? '0', { maximum: LONGEST_WAIT_SECONDS })
  return {
    // A plus sign that was not encoded arrives as a space.
    to: query.get('to')?.replace(/^ /, '+').toLowerCase() ?? null,
    purpose: query.get('purpose'),
    after: readNumber('after', query.get('after') ?? '0'),
    waitMs: wait * 1000,
  }
}

const page = (html: string, policy: string, language?: Language) => pageAnswer({ html, policy, language })
