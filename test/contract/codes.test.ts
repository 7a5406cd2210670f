/** The promise of CodeStore, on every backend. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import type { CodeKey } from '../../src/domain/codes/store.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { seed } from '../random/seed.ts'
import { countRows, forEachBackend } from './backends.ts'
import { raceProcesses } from './racer.ts'
import { runsOf } from './runs.ts'

setDefaultTimeout(20_000)

const start = new Date('2026-07-01T12:00:00.000Z')
const after = (ms: number) => new Date(start.getTime() + ms)
const minute = 60_000
const lifetimeMs = 10 * minute
const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()
const right = hashOf('right')
const wrong = hashOf('wrong')
const newKey = (): CodeKey => ({ subject: crypto.randomUUID(), purpose: 'confirmation' })
const live = { hash: right, expiresAt: after(lifetimeMs) }

const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)))

forEachBackend('one-time codes', (backend, name) => {
  test('the right code passes once', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    expect(await codes.take(key, right, 5, start)).toBe(true)
    expect(await codes.take(key, right, 5, start)).toBe(false)
  })

  test('without a code nothing passes', async () => {
    expect(await backend().codes.take(newKey(), right, 5, start)).toBe(false)
  })

  test('a code passes only for its subject and its purpose', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    expect(await codes.take({ ...key, purpose: 'two_factor' }, right, 5, start)).toBe(false)
    expect(await codes.take(newKey(), right, 5, start)).toBe(false)
    expect(await codes.take(key, right, 5, start)).toBe(true)
  })

  test('the fifth try may be right, the sixth is not looked at', async () => {
    const { codes } = backend()
    const [lucky, late] = [newKey(), newKey()]
    await codes.put(lucky, live, start)
    await codes.put(late, live, start)
    for (let i = 0; i < 4; i++) expect(await codes.take(lucky, wrong, 5, start)).toBe(false)
    for (let i = 0; i < 5; i++) expect(await codes.take(late, wrong, 5, start)).toBe(false)
    expect(await codes.take(lucky, right, 5, start)).toBe(true)
    expect(await codes.take(late, right, 5, start)).toBe(false)
    expect(await codes.take(late, right, 50, start)).toBe(false)
  })

  test('a code is dead at its expiry, and not a millisecond before', async () => {
    const { codes } = backend()
    const [early, late] = [newKey(), newKey()]
    await codes.put(early, live, start)
    await codes.put(late, live, start)
    expect(await codes.take(early, right, 5, after(lifetimeMs - 1))).toBe(true)
    expect(await codes.take(late, right, 5, after(lifetimeMs))).toBe(false)
  })

  test('a code that is put after its expiry is dead', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, { hash: right, expiresAt: start }, after(1))
    expect(await codes.take(key, right, 5, after(1))).toBe(false)
  })

  test('a new code replaces the old one and has all its tries', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, { ...live, hash: wrong }, start)
    for (let i = 0; i < 4; i++) await codes.take(key, right, 5, start)
    await codes.put(key, live, start)
    expect(await codes.take(key, wrong, 5, start)).toBe(false)
    expect(await codes.take(key, right, 5, start)).toBe(true)
  })

  test('of two codes the one of the later message stays, whichever is put last', async () => {
    const { codes } = backend()
    const [key, unordered] = [newKey(), newKey()]
    await codes.put(key, { ...live, messageId: 8 }, start)
    await codes.put(key, { ...live, hash: wrong, messageId: 7 }, start)
    expect(await codes.take(key, wrong, 5, start)).toBe(false)
    expect(await codes.take(key, right, 5, start)).toBe(true)
    await codes.put(key, { ...live, messageId: 7 }, start)
    expect(await codes.take(key, right, 5, start)).toBe(false)
    await codes.put(key, { ...live, messageId: 9 }, start)
    expect(await codes.take(key, right, 5, start)).toBe(true)

    await codes.put(unordered, { ...live, messageId: 8 }, start)
    await codes.put(unordered, { ...live, hash: wrong }, start)
    await codes.put(unordered, { ...live, messageId: 7 }, start)
    expect(await codes.take(unordered, wrong, 5, start)).toBe(true)
    const expired = after(lifetimeMs)
    await codes.put(unordered, { hash: right, expiresAt: after(2 * lifetimeMs), messageId: 7 }, expired)
    expect(await codes.take(unordered, right, 5, expired)).toBe(true)
  })

  test('a removed code is dead', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    await codes.remove(key)
    expect(await codes.take(key, right, 5, start)).toBe(false)
    await codes.remove(key)
  })

  test('the life of a code begins again at its first sending, and its tries stay counted', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    for (let i = 0; i < 4; i++) await codes.take(key, wrong, 5, start)
    expect(await codes.start(key, { ...live, expiresAt: after(2 * lifetimeMs) }, after(1000))).toBe(true)
    expect(await codes.take(key, wrong, 5, after(lifetimeMs + 1))).toBe(false)
    expect(await codes.take(key, right, 50, after(lifetimeMs + 1))).toBe(false)
  })

  test('a code that expired while it waited to be sent, or was lost, lives from its first sending', async () => {
    const { codes } = backend()
    const [late, lost] = [newKey(), newKey()]
    const sentAt = after(lifetimeMs + minute)
    await codes.put(late, live, start)
    expect(await codes.take(late, right, 5, sentAt)).toBe(false)
    for (const key of [late, lost]) {
      expect(await codes.start(key, { ...live, expiresAt: after(2 * lifetimeMs) }, sentAt)).toBe(true)
      expect(await codes.take(key, wrong, 5, sentAt)).toBe(false)
      expect(await codes.take(key, right, 5, after(2 * lifetimeMs - 1))).toBe(true)
    }
  })

  test('a code that is replaced, taken or dead is not started', async () => {
    const { codes } = backend()
    const longer = { hash: right, expiresAt: after(2 * lifetimeMs) }
    const [replaced, taken, dead] = [newKey(), newKey(), newKey()]
    for (const key of [replaced, taken, dead]) await codes.put(key, live, start)
    await codes.put(replaced, { ...live, hash: wrong }, start)
    await codes.take(taken, right, 5, start)
    await times(5, () => codes.take(dead, wrong, 5, start))
    for (const key of [replaced, taken, dead]) {
      expect(await codes.start(key, longer, after(1000))).toBe(false)
      expect(await codes.take(key, right, 50, after(1000))).toBe(false)
    }
    expect(await codes.start(taken, { ...longer, hash: wrong }, start)).toBe(false)
    expect(await codes.take(replaced, wrong, 5, start)).toBe(true)
  })

  for (const callers of [32, 200])
    test(`of ${callers} callers with the right code one passes`, async () => {
      const { codes } = backend()
      const key = newKey()
      await codes.put(key, live, start)
      const answers = await times(callers, () => codes.take(key, right, callers + 1, start))
      expect(answers.filter(Boolean)).toEqual([true])
    })

  test('200 wrong guesses at once are each counted', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    await times(200, () => codes.take(key, wrong, 1000, start))
    expect(await codes.take(key, right, 200, start)).toBe(false)
    expect(await codes.take(key, right, 201, start)).toBe(true)
  })

  test('of 200 wrong guesses at once five are judged, and the code is dead', async () => {
    const { codes, database } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    await times(200, (i) => codes.take(key, hashOf(`guess ${i}`), 5, start))
    expect(await codes.take(key, right, 1000, start)).toBe(false)
    if (database === null) return
    const attempts = statement<{ subject: string }, { attempts: number }>(
      sql`select attempts from codes where subject = ${sql.placeholder('subject')}::uuid`,
    )
    expect(await database.first(attempts, { subject: key.subject })).toEqual({ attempts: 5 })
  })

  if (name !== 'embedded PostgreSQL')
    test('two processes with the right code: one call passes', async () => {
      const { codes, place } = backend()
      const key = newKey()
      await codes.put(key, live, start)
      const race = {
        what: 'code',
        hash: right.toString('hex'),
        attempts: 1000,
        nowMs: start.getTime(),
      } as const
      expect(await raceProcesses(place, { ...race, subject: key.subject })).toBe(1)
    })

  test('after any history the store answers as the model does', async () => {
    const { codes } = backend()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const key = newKey()
        const model = createModel()
        let nowMs = start.getTime()
        for (const { waitMs, action, hash, lifetime, attempts } of steps) {
          nowMs += waitMs
          const now = new Date(nowMs)
          const code = { hash: hashOf(hash), expiresAt: new Date(nowMs + lifetime) }
          const modelCode = { hash, endMs: nowMs + lifetime }
          if (action === 'put') {
            await codes.put(key, code, now)
            model.put(modelCode)
          } else if (action === 'remove') {
            await codes.remove(key)
            model.remove()
          } else if (action === 'start') {
            expect(await codes.start(key, code, now)).toBe(model.start(modelCode))
          } else
            expect(await codes.take(key, code.hash, attempts, now)).toBe(model.take(hash, attempts, nowMs))
        }
      }),
      { seed, numRuns: runsOf(40) },
    )
  }, 120_000)

  test('expired codes are swept, a few at a time, and only these', async () => {
    const { codes, database } = backend()
    const farAhead = after(1_000_000_000)
    for (let i = 0; i < 3; i++) await codes.put(newKey(), live, start)
    const kept = newKey()
    await codes.put(kept, { hash: right, expiresAt: after(2_000_000_000) }, start)
    const removed = [await codes.sweep(farAhead, 2), await codes.sweep(farAhead, 1000)]
    if (database !== null) {
      expect(removed[0]).toBe(2)
      expect(removed[1]).toBeGreaterThanOrEqual(1)
      expect(await countRows(database, 'codes')).toBe(1)
    } else expect(removed).toEqual([0, 0])
    expect(await codes.take(kept, right, 5, farAhead)).toBe(true)
  })
})

/** Lifetimes are long enough that no key of Redis expires by itself meanwhile. */
const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 400_000 }),
  action: fc.constantFrom('put', 'take', 'take', 'take', 'start', 'remove'),
  hash: fc.constantFrom('a', 'b'),
  lifetime: fc.integer({ min: 100_000, max: 1_000_000 }),
  attempts: fc.constantFrom(1, 3, 3, 3),
})

/** One code, in the plainest words. */
function createModel() {
  let code: { hash: string; endMs: number; attempts: number; isSpent: boolean } | null = null
  const put = (next: { hash: string; endMs: number }) => {
    code = { ...next, attempts: 0, isSpent: false }
  }
  return {
    put,
    remove: () => {
      code = null
    },
    start: (next: { hash: string; endMs: number }) => {
      if (code === null) put(next)
      else if (code.hash !== next.hash || code.isSpent) return false
      else code.endMs = next.endMs
      return true
    },
    take: (hash: string, attempts: number, nowMs: number) => {
      if (code === null || code.isSpent || code.endMs <= nowMs || code.attempts >= attempts) return false
      code.attempts++
      const isRight = code.hash === hash
      code.isSpent = isRight || code.attempts >= attempts
      return isRight
    },
  }
}
