/** The promise of CodeStore, on every backend. */
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { callerGroups, stranger } from '../../src/domain/foundation/limits/callers.ts'
import type { AttemptStore } from '../../src/domain/messages/codes/attempt-store.ts'
import { type CodeBinding, createCodeService } from '../../src/domain/messages/codes/service.ts'
import { type CodeKey, type CodeResult, codePurposes } from '../../src/domain/messages/codes/store.ts'
import type { Config } from '../../src/platform/config/types.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import type { ServerSecret } from '../../src/platform/secret.ts'
import { seed } from '../random/seed.ts'
import { countRows, forEachBackend } from './backends.ts'
import { raceProcesses } from './racer.ts'
import { runsOf } from './runs.ts'

const start = new Date('2026-07-01T12:00:00.000Z')
const after = (ms: number) => new Date(start.getTime() + ms)
const minute = 60_000
const lifetimeMs = 10 * minute
const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()
const right = hashOf('right')
const wrong = hashOf('wrong')
const newKey = (): CodeKey => ({ subject: crypto.randomUUID(), purpose: 'confirmation', group: 'stranger' })
const live = { hash: right, expiresAt: after(lifetimeMs) }

const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)))

forEachBackend('one-time codes', (backend, name) => {
  /** A service whose attempts are counted here alone, at most `places` at once. */
  function counting(places = Number.POSITIVE_INFINITY) {
    let counted = 0
    const attempts = {
      async reserve(keys: unknown[]) {
        const isOpen = counted < places
        if (isOpen) counted += keys.length
        return keys.map(() => ({ isOpen }))
      },
      async release(keys: unknown[]) {
        counted -= keys.length
      },
      async makeLast() {},
    }
    const codes = createCodeService({
      stores: { codes: backend().codes, attempts: attempts as unknown as AttemptStore },
      secret: { tag: (...parts: unknown[]) => hashOf(parts.join()) } as unknown as ServerSecret,
      clock: { now: () => start },
      config: { codes: { attempts: 5, lifetimeSeconds: 600 } } as Config,
    })
    return { codes, counted: () => counted }
  }

  test('the right code passes once', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    expect(await codes.take(key, right, 5, start)).toBe('right')
    expect(await codes.take(key, right, 5, start)).not.toBe('right')
  })

  test('a look at a code changes nothing, and finds a spent one where that is asked for', async () => {
    const { codes } = backend()
    const key = newKey()
    const looks = async (hash = right) => [
      await codes.holds(key, hash, 5, start),
      await codes.holds(key, hash, 5, start, true),
    ]
    await codes.put(key, live, start)
    expect(await looks()).toEqual([true, true])
    expect(await looks(wrong)).toEqual([false, false])
    expect(await codes.take(key, right, 5, start)).toBe('right')
    expect(await looks()).toEqual([false, true])
    expect(await looks(wrong)).toEqual([false, false])
  })

  test('of 32 calls with the right code and another contact one is right, and none of the others is wrong', async () => {
    const { codes, counted } = counting()
    const sent: CodeBinding = { ...newKey(), purpose: 'two_factor', destination: '+33612345678' }
    const seed = codes.createSeed()
    await codes.put(sent, seed, null)
    const typed = codes.reveal(sent, seed)
    const others = [sent.destination]
    const named = { ...sent, destination: 'ada@example.com' }
    const results: CodeResult[] = []
    const by = { caller: stranger({ addressBucket: '192.0.2.1' }), name: named.destination, others }
    const attempt = () =>
      codes.attempt(named, typed, by, async (allowed) => {
        const result = await codes.compare(named, typed, by, allowed)
        results.push(result)
        return result
      })
    const outcomes = await Promise.allSettled(Array.from({ length: 32 }, attempt))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(results.sort()).toEqual(['right', ...Array(31).fill('spent')])
    const late = await attempt().catch(({ errorCode }) => errorCode)
    expect([late, results.pop(), counted()]).toEqual(['invalid_code', 'spent', 0])
  })

  test('one that fails takes its counting back, and one that waits for it is compared', async () => {
    const { codes, counted } = counting(1)
    const sent: CodeBinding = { ...newKey(), destination: 'ada@example.com' }
    const by = { caller: stranger({ addressBucket: '192.0.2.1' }), name: sent.destination }
    const [begun, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
    const failed = codes.attempt(sent, '000000', by, () => {
      begun.resolve()
      return failing.promise
    })
    await begun.promise
    const waits = codes.attempt(sent, '000000', by, async (allowed) => (allowed ? 'right' : 'wrong'))
    await Bun.sleep(5)
    failing.reject(new Error('away'))
    await expect(failed).rejects.toThrow('away')
    await waits
    expect(counted()).toBe(0)
  })

  test('without a code nothing passes', async () => {
    expect(await backend().codes.take(newKey(), right, 5, start)).not.toBe('right')
  })

  test('a code passes only for its subject and its purpose', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    expect(await codes.take({ ...key, purpose: 'two_factor' }, right, 5, start)).not.toBe('right')
    expect(await codes.take(newKey(), right, 5, start)).not.toBe('right')
    expect(await codes.take(key, right, 5, start)).toBe('right')
  })

  test('a code of another group is right too, and a wrong try counts on no code but that of its own group', async () => {
    const { codes } = backend()
    const mine = newKey()
    const owner: CodeKey = { ...mine, group: 'owner' }
    const ofOwner = hashOf('of the owner')
    await codes.put(mine, live, start)
    await codes.put(owner, { ...live, hash: ofOwner }, start)
    for (let i = 0; i < 50; i++) await codes.take(mine, wrong, 5, start)
    expect(await codes.take(mine, right, 5, start)).toBe('wrong')
    expect(await codes.take(mine, ofOwner, 5, start)).toBe('right')
    expect(await codes.take(owner, ofOwner, 5, start)).toBe('spent')
  })

  test('a request replaces the code of its own group alone', async () => {
    const { codes } = backend()
    const mine = newKey()
    const owner: CodeKey = { ...mine, group: 'owner' }
    const password: CodeKey = { ...mine, group: 'password' }
    const hashes = [hashOf('a'), hashOf('b'), hashOf('c')] as const
    await codes.put(owner, { ...live, hash: hashes[0] }, start)
    await codes.put(password, { ...live, hash: hashes[1] }, start)
    await codes.put(mine, live, start)
    await codes.put(mine, { ...live, hash: hashes[2] }, start)
    expect(await codes.take(owner, right, 5, start)).toBe('wrong')
    for (const hash of hashes) expect(await codes.take(owner, hash, 5, start)).toBe('right')
  })

  test('two groups with the same code by chance: one try takes both', async () => {
    const { codes } = backend()
    const mine = newKey()
    await codes.put(mine, live, start)
    await codes.put({ ...mine, group: 'owner' }, live, start)
    expect(await codes.take(mine, right, 5, start)).toBe('right')
    expect(await codes.take({ ...mine, group: 'owner' }, right, 5, start)).toBe('spent')
  })

  test('tries of all groups at once on the same codes are exact and finish', async () => {
    const { codes } = backend()
    const mine = newKey()
    await codes.put(mine, live, start)
    await codes.put({ ...mine, group: 'owner' }, live, start)
    const groups = ['stranger', 'password', 'owner'] as const
    const results = await times(60, (i) =>
      codes.take({ ...mine, group: groups[i % 3]! }, i % 2 ? right : wrong, 100, start),
    )
    expect(results.filter((result) => result === 'right')).toHaveLength(1)
  })

  test('the fifth try may be right, the sixth is not looked at', async () => {
    const { codes } = backend()
    const [lucky, late] = [newKey(), newKey()]
    await codes.put(lucky, live, start)
    await codes.put(late, live, start)
    for (let i = 0; i < 4; i++) expect(await codes.take(lucky, wrong, 5, start)).not.toBe('right')
    for (let i = 0; i < 5; i++) expect(await codes.take(late, wrong, 5, start)).not.toBe('right')
    expect(await codes.take(lucky, right, 5, start)).toBe('right')
    expect(await codes.take(late, right, 5, start)).not.toBe('right')
    expect(await codes.take(late, right, 50, start)).not.toBe('right')
  })

  test('a code is dead at its expiry, and not a millisecond before', async () => {
    const { codes } = backend()
    const [early, late] = [newKey(), newKey()]
    await codes.put(early, live, start)
    await codes.put(late, live, start)
    expect(await codes.take(early, right, 5, after(lifetimeMs - 1))).toBe('right')
    expect(await codes.take(late, right, 5, after(lifetimeMs))).not.toBe('right')
  })

  test('a code that is put after its expiry is dead', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, { hash: right, expiresAt: start }, after(1))
    expect(await codes.take(key, right, 5, after(1))).not.toBe('right')
  })

  test('a new code replaces the old one and has all its tries', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, { ...live, hash: wrong }, start)
    for (let i = 0; i < 4; i++) await codes.take(key, right, 5, start)
    await codes.put(key, live, start)
    expect(await codes.take(key, wrong, 5, start)).not.toBe('right')
    expect(await codes.take(key, right, 5, start)).toBe('right')
  })

  test('of two codes the one of the later message stays, whichever is put last', async () => {
    const { codes } = backend()
    const [key, unordered] = [newKey(), newKey()]
    await codes.put(key, { ...live, messageId: 8 }, start)
    await codes.put(key, { ...live, hash: wrong, messageId: 7 }, start)
    expect(await codes.take(key, wrong, 5, start)).not.toBe('right')
    expect(await codes.take(key, right, 5, start)).toBe('right')
    await codes.put(key, { ...live, messageId: 7 }, start)
    expect(await codes.take(key, right, 5, start)).not.toBe('right')
    await codes.put(key, { ...live, messageId: 9 }, start)
    expect(await codes.take(key, right, 5, start)).toBe('right')

    await codes.put(unordered, { ...live, messageId: 8 }, start)
    await codes.put(unordered, { ...live, hash: wrong }, start)
    await codes.put(unordered, { ...live, messageId: 7 }, start)
    expect(await codes.take(unordered, wrong, 5, start)).toBe('right')
    const expired = after(lifetimeMs)
    await codes.put(unordered, { hash: right, expiresAt: after(2 * lifetimeMs), messageId: 7 }, expired)
    expect(await codes.take(unordered, right, 5, expired)).toBe('right')
  })

  test('the life of a code begins again at its first sending, and its tries stay counted', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    for (let i = 0; i < 4; i++) await codes.take(key, wrong, 5, start)
    expect(await codes.start(key, { ...live, expiresAt: after(2 * lifetimeMs) }, after(1000))).toBe(true)
    expect(await codes.take(key, wrong, 5, after(lifetimeMs + 1))).not.toBe('right')
    expect(await codes.take(key, right, 50, after(lifetimeMs + 1))).not.toBe('right')
  })

  test('a code that expired while it waited to be sent, or was lost, lives from its first sending', async () => {
    const { codes } = backend()
    const [late, lost] = [newKey(), newKey()]
    const sentAt = after(lifetimeMs + minute)
    await codes.put(late, live, start)
    expect(await codes.take(late, right, 5, sentAt)).not.toBe('right')
    for (const key of [late, lost]) {
      expect(await codes.start(key, { ...live, expiresAt: after(2 * lifetimeMs) }, sentAt)).toBe(true)
      expect(await codes.take(key, wrong, 5, sentAt)).not.toBe('right')
      expect(await codes.take(key, right, 5, after(2 * lifetimeMs - 1))).toBe('right')
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
      expect(await codes.take(key, right, 50, after(1000))).not.toBe('right')
    }
    expect(await codes.start(taken, { ...longer, hash: wrong }, start)).toBe(false)
    expect(await codes.take(replaced, wrong, 5, start)).toBe('right')
  })

  test('a code that is killed is dead and not started; one that was taken stays taken', async () => {
    const { codes } = backend()
    const [living, taken, unsent] = [newKey(), newKey(), newKey()]
    for (const key of [living, taken]) await codes.put(key, live, start)
    await codes.take(taken, right, 5, start)
    const nobodys = { hash: hashOf('nobody has it'), expiresAt: after(2 * lifetimeMs) }
    for (const { subject } of [living, taken, unsent]) await codes.kill(subject, nobodys, start)
    const results = []
    for (const key of [living, taken, unsent]) {
      expect(await codes.start(key, live, after(lifetimeMs))).toBe(false)
      results.push(await codes.take(key, right, 5, after(2 * lifetimeMs - 1)))
    }
    expect(results).toEqual(['wrong', 'spent', 'wrong'])
  })

  test('the codes of a subject are killed for every purpose and group, and nobody else’s', async () => {
    const { codes } = backend()
    const [{ subject }, neighbour] = [newKey(), newKey()]
    const keys = codePurposes.flatMap((purpose) => callerGroups.map((group) => ({ subject, purpose, group })))
    for (const key of [...keys, neighbour]) await codes.put(key, live, start)
    await codes.kill(subject, { hash: hashOf('nobody has it'), expiresAt: after(lifetimeMs) }, start)
    for (const key of keys) expect(await codes.take(key, right, 5, start)).toBe('wrong')
    expect(await codes.take(neighbour, right, 5, start)).toBe('right')
  })

  if (!name.startsWith('Redis'))
    test('the codes that a transaction kills end with it or not at all', async () => {
      const { codes, database } = backend()
      const nobodys = { hash: hashOf('nobody has it'), expiresAt: after(lifetimeMs) }
      const killIn = ({ subject }: CodeKey, last: () => void) =>
        database!.transaction(async (transaction) => {
          await codes.kill(subject, nobodys, start, transaction)
          last()
        })
      const [kept, ended] = [newKey(), newKey()]
      for (const key of [kept, ended]) await codes.put(key, live, start)
      const refuse = () => {
        throw new Error('refused')
      }
      expect(await killIn(kept, refuse).catch(({ message }) => message)).toBe('refused')
      await killIn(ended, () => {})
      expect(await codes.take(kept, right, 5, start)).toBe('right')
      expect(await codes.take(ended, right, 5, start)).toBe('wrong')
    })

  test('of 32 who take codes of a subject while they are killed nobody waits for another in a circle', async () => {
    const { codes } = backend()
    const key = newKey()
    const nobodys = { hash: hashOf('nobody has it'), expiresAt: after(lifetimeMs) }
    await codes.put(key, live, start)
    await codes.put({ ...key, group: 'owner' }, { ...live, hash: wrong }, start)
    const answers = await times<unknown>(32, (i) =>
      i % 4 === 0
        ? codes.kill(key.subject, nobodys, start)
        : codes.take(key, i % 2 ? right : wrong, 40, start),
    )
    expect(answers.filter((answer) => answer === 'right').length).toBeLessThanOrEqual(2)
    expect(await codes.take(key, right, 40, start)).not.toBe('right')
  })

  for (const callers of [32, 200])
    test(`of ${callers} callers with the right code one passes`, async () => {
      const { codes } = backend()
      const key = newKey()
      await codes.put(key, live, start)
      const answers = await times(callers, () => codes.take(key, right, callers + 1, start))
      expect(answers.filter((result) => result === 'right')).toHaveLength(1)
      expect(answers.filter((result) => result === 'spent')).toHaveLength(callers - 1)
    })

  test('200 wrong guesses at once are each counted', async () => {
    const { codes } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    await times(200, () => codes.take(key, wrong, 1000, start))
    expect(await codes.take(key, right, 200, start)).not.toBe('right')
    expect(await codes.take(key, right, 201, start)).toBe('right')
  })

  test('of 200 wrong guesses at once five are compared, and the code is dead', async () => {
    const { codes, database } = backend()
    const key = newKey()
    await codes.put(key, live, start)
    await times(200, (i) => codes.take(key, hashOf(`guess ${i}`), 5, start))
    expect(await codes.take(key, right, 1000, start)).not.toBe('right')
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
    expect(await codes.take(kept, right, 5, farAhead)).toBe('right')
  })
})

/** Lifetimes are long enough that no key of Redis expires by itself meanwhile. */
const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 400_000 }),
  action: fc.constantFrom('put', 'take', 'take', 'take', 'start'),
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
    start: (next: { hash: string; endMs: number }) => {
      if (code === null) put(next)
      else if (code.hash !== next.hash || code.isSpent) return false
      else code.endMs = next.endMs
      return true
    },
    take: (hash: string, attempts: number, nowMs: number): CodeResult => {
      if (code === null || code.endMs <= nowMs || code.attempts >= attempts) return 'wrong'
      const isRight = code.hash === hash
      if (code.isSpent) return isRight ? 'spent' : 'wrong'
      if (!isRight) code.attempts++
      code.isSpent = isRight || code.attempts >= attempts
      return isRight ? 'right' : 'wrong'
    },
  }
}
