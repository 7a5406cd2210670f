/**
 * The code of a hashing thread, as a text, so that the executable needs no second file. Bun.password makes every
 * digest. A native addon verifies them in a third of the time, if it loads and agrees with Bun.password.
 */
import type { Addon } from '../../../platform/bundled/argon2-addon.ts'

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
export const threadSource = (
  addon: Addon,
): string => `try { require('node:os').setPriority(0, ${NICENESS}) } catch {}
const { hashSync, verifySync } = Bun.password
const encoder = new TextEncoder()
const hash = ({ password, memoryKib, iterations }) =>
  hashSync(password, { algorithm: 'argon2id', memoryCost: memoryKib, timeCost: iterations })
let addon = null
const byAddon = (password, digest) => addon.verifySync(digest, encoder.encode(password))
const asBcryptReads = (password) => encoder.encode(password).subarray(0, ${BCRYPT_BYTES})
const verifyOne = (password, { digest, suitsAddon }) => {
  if (addon !== null && suitsAddon) try { return byAddon(password, digest) } catch {}
  return verifySync(digest.startsWith('$2') ? asBcryptReads(password) : password, digest)
}
const opens = (password, stored) => {
  try { return verifyOne(password, stored) } catch {}
  return verifyOne(password, stored.decoy) && false
}
const verify = ({ password, stored, decoys, renewal }) => {
  const right = stored !== null && opens(password, stored)
  let newDigest = null
  if (renewal && right) newDigest = hash(renewal)
  else if (renewal) verifyOne(password, renewal.decoy)
  for (const decoy of decoys) verifyOne(password, decoy)
  return { right, newDigest }
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
