/** The parts of the table that describe what an account carries: the names of roles, and usernames that are kept back. */
import { isTable, type KeyRule, type Reading } from './rules.ts'

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

/** The names by the numbers of the roles. */
export const roleNames: KeyRule<Record<string, string>> = {
  kind: 'text',
  doc: 'The number of a role, and its name.',
  initial: {},
  example: { 1: 'user', 7: 'editor' },
  alternative: false,
  secret: false,
  suffix: '',
  expected: 'numbers of roles with a name each, such as 7 = "editor"',
  fromText: (text) => text,
  read(raw) {
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
  },
}
