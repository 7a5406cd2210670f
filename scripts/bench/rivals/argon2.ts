/** The limit of logins and registrations: hashing alone, as many calls at once as there are clients. */
import { verify } from '@node-rs/argon2'
import { hashSettings, PASSWORD } from '../accounts.ts'
import { answerQuestions } from '../child-side.ts'

export interface HashQuestion {
  /** `addon`: the verification of the native addon; the others are those of Bun.password. */
  kind: 'verify' | 'hash' | 'addon'
  atOnce: number
  seconds: number
}

const digest = await Bun.password.hash(PASSWORD, hashSettings)
const calls = {
  verify: () => Bun.password.verify(PASSWORD, digest),
  addon: () => verify(digest, PASSWORD),
  hash: () => Bun.password.hash(PASSWORD, hashSettings),
}

/** Answers how many a second. */
await answerQuestions(async ({ kind, atOnce, seconds }: HashQuestion) => {
  const warmupMs = Math.min(1000, seconds * 200)
  const beginMs = performance.now() + warmupMs
  const endMs = performance.now() + seconds * 1000
  let done = 0
  const loop = async () => {
    while (performance.now() < endMs) {
      await calls[kind]()
      const nowMs = performance.now()
      if (nowMs >= beginMs && nowMs < endMs) done++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  return done / ((endMs - beginMs) / 1000)
})
