/** The mailbox of --dev. These routes exist nowhere else: they show every code. */
import { Elysia } from 'elysia'
import type { Language } from '../../texts/languages.ts'
import { pickLanguage } from '../../texts/languages.ts'
import type { Mailbox } from '../delivery/mailbox.ts'
import { mailboxPage, mailboxPolicy } from './page.ts'

/** For people as a page, for programs as JSON, newest first. */
export function createMailboxRoutes(mailbox: Mailbox, defaultLanguage: Language) {
  return new Elysia({ name: 'mailbox' })
    .get(
      '/dev/mailbox',
      ({ request }) => {
        const language = pickLanguage(request.headers.get('accept-language'), defaultLanguage)
        return new Response(mailboxPage(mailbox.list(), language), {
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'content-language': language,
            'cache-control': 'no-store',
            'content-security-policy': mailboxPolicy,
            'referrer-policy': 'no-referrer',
          },
        })
      },
      { detail: { hide: true } },
    )
    .get('/dev/mailbox.json', () => mailbox.list(), { detail: { hide: true } })
}
