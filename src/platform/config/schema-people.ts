/** The parts of the table that describe what an account carries: the names of roles, and usernames that are kept back. */
import { isTable } from '../../texts/table.ts'
import { createRule, type Reading, required, text } from './rules.ts'

/** Only the command line gives them to an account. */
export const reservedUsernames = [
  ...['admin', 'administrator', 'root', 'system', 'support', 'operator', 'owner', 'staff', 'moderator'],
  ...['postmaster', 'hostmaster', 'webmaster', 'abuse', 'security', 'noreply', 'no-reply', 'mailer-daemon'],
  ...['api', 'www', 'ftp', 'mail', 'smtp', 'imap', 'dns', 'git', 'ssh', 'help', 'info', 'status', 'billing'],
  ...[
    'me',
    'anonymous',
    'nobody',
    'everyone',
    'null',
    'undefined',
    'poterne',
    'grafana',
    'gitea',
    'nextcloud',
  ],
]

/** A name must not look like a number, since both are taken in the same places. */
const ROLE_NAME = /^[a-z][\w.:-]{0,63}$/i
const ROLE_ID = /^(0|[1-9]\d{0,9})$/
const MAXIMUM_ROLE_ID = 2_147_483_647

const wrongFor = (reason: string): Reading<never> => ({ wrong: null, reason })

function readRoleNames(raw: unknown): Reading<Record<string, string>> {
  if (!isTable(raw)) return { wrong: raw }
  const names = new Set<string>()
  for (const [id, name] of Object.entries(raw)) {
    if (!ROLE_ID.test(id) || Number(id) > MAXIMUM_ROLE_ID)
      return wrongFor(`${JSON.stringify(id)}: expected the number of a role, from 0 to ${MAXIMUM_ROLE_ID}`)
    if (typeof name !== 'string' || !ROLE_NAME.test(name))
      return wrongFor(
        `${id}: expected a name that begins with a letter, of at most 64 letters, digits, and . _ : -`,
      )
    if (names.has(name)) return wrongFor(`${id}: "${name}" is already the name of another role`)
    names.add(name)
  }
  return { value: raw as Record<string, string> }
}

/** The names by the numbers of the roles. */
export const roleNames = createRule(
  {
    kind: 'text',
    doc: 'The number of a role, and its name.',
    initial: {},
    suffix: '',
    expected: 'numbers of roles with a name each, such as 7 = "editor"',
    read: readRoleNames,
  },
  { example: { 1: 'user', 7: 'editor' } },
)

const DAY_MS = 86_400_000
const MOST_DAYS_AHEAD = 90

/** Tells whether the digits repeat (111111, 121212, 112233) or run on (123456, 654321, 890123). */
function isGuessable(digits: string): boolean {
  const repeats = /^(\d{1,3})\1+$/.test(digits) || /^(?:(\d)\1+){2,}$/.test(digits)
  const steps = [...digits].slice(1).map((digit, index) => (Number(digit) - Number(digits[index]) + 10) % 10)
  return repeats || steps.every((step) => step === 1) || steps.every((step) => step === 9)
}

/** The first moment after the day in UTC; null: the text is no day. */
export function endOfDay(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const day = new Date(`${text}T00:00:00Z`)
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
  return isDay ? new Date(day.getTime() + DAY_MS) : null
}

/** The result stays the same as time goes on: a day of the past is no error here, it only ends the entry. */
function isNear(text: string): boolean {
  const end = endOfDay(text)
  return end !== null && end.getTime() <= Date.now() + (MOST_DAYS_AHEAD + 1) * DAY_MS
}

/** One of `[[test_identities]]`. */
export const testIdentity = {
  identifier: text(required, 'The e-mail address, or the phone number with its country code.', {
    check: (typed) => /^[^@\s]+@[^@\s]+$|^\+\d{8,15}$/.test(typed),
    expected: 'an e-mail address, or a phone number such as "+33612345678"',
    example: 'review@example.com',
  }),
  code: text(required, 'Its code of six digits, neither repeated nor consecutive ones.', {
    check: (typed) => /^\d{6}$/.test(typed) && !isGuessable(typed),
    expected: 'six digits, neither repeated nor consecutive ones (111111, 121212, 123456)',
    secret: 'all',
    example: '407915',
  }),
  until: text(required, 'The last day (UTC) on which the code works, at most 90 days ahead.', {
    check: isNear,
    expected: `a day such as "2026-12-31", at most ${MOST_DAYS_AHEAD} days ahead`,
    example: '2026-12-31',
  }),
}
