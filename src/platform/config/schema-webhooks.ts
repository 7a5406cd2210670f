/** The part of the table that describes `[[webhooks]]`: where the team's own programs are told what happens. */
import { closest, distance } from 'fastest-levenshtein'
import { eventTypes, readEventTypes, toldTypes } from '../../texts/event-types.ts'
import * as formats from './formats.ts'
import { boolean, list, required, text, variable } from './rules.ts'
import { word } from './schema-lists.ts'

const hookSecret = {
  check: isHookSecret,
  secret: 'all',
} as const

/** 24 to 64 bytes, as Standard Webhooks 1.0.0 has them. */
function isHookSecret(secret: string): boolean {
  const [, encoded] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(secret) ?? []
  if (encoded === undefined) return false
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded
}

/** The keys of what is called with a signature. */
export const signedCall = {
  url: text(required, 'Where the requests go. A certificate proves a public name; no redirect is followed.', {
    check: formats.isHookUrl,
    reason: formats.explainAddress,
    expected: 'an https URL without user, password and fragment; http to a host of your own network',
    secret: 'address',
    example: 'http://127.0.0.1:3000/hooks/poterne',
  }),
  secret: text(
    required,
    'Signs every request, as Standard Webhooks 1.0.0 has it. `echo whsec_$(openssl rand -base64 32)` makes one.',
    {
      ...hookSecret,
      expected: 'whsec_ and base64 of 24 to 64 bytes',
      example: variable('APP_HOOK_SECRET'),
    },
  ),
  previous_secrets: list('These sign too, while the receiver changes to the new one.', {
    ...hookSecret,
    item: 'whsec_ and base64 of 24 to 64 bytes',
    example: [variable('APP_HOOK_SECRET_BEFORE')],
  }),
}

const NEVER_SENT = 'is never sent: it is counted, and its count still grows, or it says who looked at whom'

function whyUntold(name: string): string | null {
  if (readEventTypes(name) !== null) return `"${name}" ${NEVER_SENT}`
  const kinds = eventTypes.map((type) => type.replace(/\..*$/, '.*'))
  const nearest = closest(name, [...eventTypes, ...kinds])
  const hint =
    distance(name, nearest) <= name.length / 2 ? `did you mean "${nearest}"?` : 'docs/events.md lists them'
  return `there is no event "${name}"; ${hint}`
}

export const webhook = {
  name: text(required, 'Its name in the log, in commands and in metrics.', { ...word, example: 'app' }),
  ...signedCall,
  events: list(
    'What is told: types of docs/events.md, or `account.*` for all of a kind, those of later versions too.',
    {
      check: (name) => !name.includes(',') && toldTypes([name]).length > 0,
      reason: whyUntold,
      item: 'a type of event such as "account.confirmed", or a kind such as "account.*"',
      example: ['account.*', 'identifier.*', 'session.ended'],
    },
  ),
  account_state: boolean(
    false,
    'Adds `account_state` to each event: the account as it is when the request is made.',
  ),
}
