/**
 * The code of a hashing thread, as a text, so that the executable needs no second file. Bun.password makes every
 * digest. A native addon verifies them in a third of the time, if it loads and agrees with Bun.password.
 */
import type { Addon } from '../../../platform/bundled/argon2-addon.ts'
import { foreignHashesText } from './foreign-hashes-text.ts' with { type: 'macro' }

/** Its functions stand beside those of the thread. */
const foreignHashes: string = foreignHashesText()

/**
 * The lower priority of hashing (nice, 0 to 19). When all processors are hashing, the thread that answers, PostgreSQL and
 * Redis still come first, and people who sign in wait a little longer. With a higher number other programs on a busy
 * machine could stop logins altogether.
 */
const NICENESS = 5

/** The program that verifies passwords. `bun` is the fallback. */
export type Verifier = { by: 'addon' } | { by: 'bun'; reason: string }

/** Other programs hash so many bytes of a password; Bun.password alone makes more of a longer one. */
const BCRYPT_BYTES = 72

/** Digests that Bun.password made, with the passwords that open them: the addon must agree on them before it is used. */
const KNOWN_DIGESTS = [
  [
    'correct horse battery staple',
    '$argon2id$v=19$m=1024,t=2,p=1$B59XJkWuV6hZ0GFtITZ6KjERUJUUonJhr5gnebtVDXk$lH8wYJeQNqXQil61r8FeULS9cWxdCgf5bb0m14vCMAU',
  ],
  [
    'пароль 🦊 été',
    '$argon2id$v=19$m=64,t=3,p=1$Oyk6UB0lXg0cxUNz5lPgA+DydFSuIlt4gwlIPtnMLak$2/Lda/X4wIzaQ3yEx8UfyRzIUr0yW5wY4rUOTv8WJvY',
  ],
]

/** A thread's first message is its Verifier. Then it answers each job with one message, a `Result` (hash-threads.ts). */
export const threadSource = (addon: Addon): string => `${foreignHashes}
try { require('node:os').setPriority(0, ${NICENESS}) } catch {}
const { hashSync, verifySync } = Bun.password
const encoder = new TextEncoder()
const hash = ({ password, memoryKib, iterations }) =>
  hashSync(password, { algorithm: 'argon2id', memoryCost: memoryKib, timeCost: iterations })
let addon = null
const byAddon = (password, digest) => addon.verifySync(digest, encoder.encode(password))
const asBcryptReads = (password) => encoder.encode(password).subarray(0, ${BCRYPT_BYTES})
const argon2 = (password, digest, suitsAddon) => {
  if (addon !== null && suitsAddon) try { return byAddon(password, digest) } catch {}
  return verifySync(password, digest)
}
const firstForm = ({ typed, normal }, triesAll, opens) => {
  const forms = typed === normal ? [normal] : [normal, typed]
  if (!triesAll) return forms.findIndex(opens) + 1
  return forms.map(opens).indexOf(true) + 1
}
const verifyOne = (password, { digest, suitsAddon, innerOnly }, triesAll) => {
  const { typed } = password
  const parts = digest.split('$').slice(1)
  const [kind, parameters, variant, salt] = parts
  if (kind.startsWith('argon2')) return firstForm(password, triesAll, (form) => argon2(form, digest, suitsAddon))
  if (kind.startsWith('2')) return +verifySync(asBcryptReads(typed), digest)
  if (kind === 'bcrypt')
    return +verifySync(asBcryptReads(bcryptInput(typed, variant, salt, parts[4])), '$2b$' + parameters.slice(2) + '$' + parts[4])
  if (kind.startsWith('pbkdf2')) return +opensPbkdf2(typed, parts)
  if (kind.endsWith('scrypt')) return firstForm(password, triesAll, (form) => opensScrypt(form, parts))
  const [, rounds, outer] = /^(?:n=(\\d+),)?(.*)$/.exec(parameters)
  const inner = innerHash(typed, kind, Number(rounds ?? 0), variant, salt)
  if (innerOnly) return 0
  return +argon2(inner, '$argon2id$v=19$' + outer + '$' + parts[4] + '$' + parts[5], suitsAddon)
}
const verifyAll = (password, all) => { for (const one of all) verifyOne(password, one) }
const verify = ({ password, stored, rest, all, goesOn, renewal }) => {
  let form = 0
  try {
    if (stored) form = verifyOne(password, stored, goesOn)
    if (stored && (goesOn || !form)) verifyAll(password, rest)
  } catch { stored = null }
  if (!stored) verifyAll(password, all)
  const isRenewed = form > 0 && renewal !== null && (form > 1 || !renewal.ifOtherForm)
  return { right: form > 0, newDigest: isRenewed ? hash(renewal) : null }
}
const load = ({ path, missing }) => {
  if (path === undefined) throw new Error(missing)
  const loaded = { exports: {} }
  process.dlopen(loaded, path)
  addon = loaded.exports
  for (const [password, digest] of ${JSON.stringify(KNOWN_DIGESTS)})
    for (const verifies of [verifySync, byAddon])
      if (verifies(password, digest) !== true || verifies(password + 'x', digest) !== false)
        throw new Error('it does not agree with Bun.password')
}
let verifier = { by: 'addon' }
try { load(${JSON.stringify(addon)}) } catch (error) {
  addon = null
  verifier = { by: 'bun', reason: String(error?.message ?? error) }
}
const run = { hash, verify }
self.onmessage = ({ data: job }) => {
  let result = null
  try { result = run[job.kind](job) } catch {}
  postMessage(result)
}
postMessage(verifier)`
