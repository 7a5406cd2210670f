/** Hashes of passwords: how they are made, checked and queued. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, getPriority } from 'node:os'
import { decoyDigest } from '../../src/domain/foundation/decoys/decoys.ts'
import type { Family } from '../../src/domain/foundation/hashing/digest.ts'
import { createFamilies } from '../../src/domain/foundation/hashing/families.ts'
import { createHashService, type HashOptions } from '../../src/domain/foundation/hashing/service.ts'
import type { DigestStore } from '../../src/domain/foundation/hashing/store.ts'
import { AppError } from '../../src/texts/errors.ts'
import { expectSameWork, measured, medianMs, medianRatio } from '../helpers/timing.ts'

setDefaultTimeout(60_000)

const noAccounts: DigestStore = { listFamilies: async () => [] }

/** The work of the usual configuration. */
const usual = { memoryKib: 19_456, iterations: 2, reserved: 0 }

function startHashing(
  options: Omit<HashOptions, 'store' | keyof typeof usual> & Partial<typeof usual>,
  store = noAccounts,
) {
  const service = createHashService({ ...usual, ...options, store })
  const verify = async (...args: Parameters<typeof service.check>) => (await service.check(...args)).right
  return { ...service, verify }
}

/** The table of accounts would tell these families. */
const storing = (...families: [string, number][]): DigestStore => ({
  listFamilies: async () => families.map(([family, number]) => ({ family, number })),
})

const hashing = startHashing({ memoryKib: 8192, iterations: 1, concurrency: 2, queue: 64 })
afterAll(() => hashing.close())

async function errorCodeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  )
  return error instanceof AppError ? error.errorCode : String(error)
}

test('hashing gives way to everything else in the process', async () => {
  await hashing.hash('a password')
  const nicenessOf = (task: string) =>
    Number(
      readFileSync(`/proc/self/task/${task}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[16],
    )
  const main = nicenessOf(String(process.pid))
  const threads = readdirSync('/proc/self/task').map(nicenessOf)
  expect(main).toBe(getPriority())
  expect(threads.some((niceness) => niceness > main)).toBe(true)
})

describe('a password', () => {
  test('is hashed with argon2id and the configured work, each time with another salt', async () => {
    const [one, two] = await Promise.all([hashing.hash('a password'), hashing.hash('a password')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=8192,t=1,p=1\$[A-Za-z0-9+/]{43}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(two)
  })

  test('opens its digest, and nothing else does', async () => {
    const digest = await hashing.hash('a password')
    expect(await hashing.verify('a password', digest)).toBe(true)
    for (const wrong of [
      'a passworD',
      'a password ',
      '',
      'a password\0',
      'a'.repeat(300),
      '\ud800',
      'impossible',
    ]) {
      expect(await hashing.verify(wrong, digest)).toBe(false)
    }
    expect(await hashing.verify('impossible', null)).toBe(false)
  })

  test('that cannot be hashed is a validation error', async () => {
    for (const password of ['', 'a\0b', '\ud800', 'a'.repeat(257)]) {
      expect(await errorCodeOf(hashing.hash(password))).toBe('validation_failed')
    }
  })
})

describe('an imported bcrypt digest', () => {
  // The digest that another bcrypt program made of this password.
  const digest = '$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe'

  test('is opened by its password, whichever of the names of the one algorithm it carries', async () => {
    for (const name of ['a', 'b', 'y']) {
      expect(await hashing.verify('a', digest.replace('$2a$', `$2${name}$`))).toBe(true)
      expect(await hashing.verify('b', digest.replace('$2a$', `$2${name}$`))).toBe(false)
    }
  })

  test('of a password above 72 bytes is opened by its own password, of which other programs hash 72', async () => {
    // Bun makes of the first 72 bytes what another program makes of the whole.
    for (const [start, tail] of [
      ['x'.repeat(72), 'tail'],
      [`${'x'.repeat(71)}`, 'été'],
      ['é'.repeat(36), '🦊'],
    ] as const) {
      const typed = `${start}${tail}`
      const cut = new TextEncoder().encode(typed).subarray(0, 72)
      const made = await Bun.password.hash(cut, { algorithm: 'bcrypt', cost: 4 })
      const { right, newDigest } = await hashing.check(typed, made)
      expect(right).toBe(true)
      expect(await hashing.verify(typed.slice(1), made)).toBe(false)
      // The digest that replaces it is of the whole password.
      expect(await hashing.verify(typed, newDigest)).toBe(true)
      expect(await hashing.verify(`${typed}x`, newDigest)).toBe(false)
    }
  })

  test('is renewed by its right password alone', async () => {
    const { newDigest } = await hashing.check('a', digest)
    expect(await hashing.check('a', newDigest)).toEqual({ right: true, newDigest: null })
    expect(await hashing.check('b', digest)).toEqual({ right: false, newDigest: null })
  })
})

describe('a stored digest', () => {
  test('is renewed when the configured work has changed, and not otherwise', async () => {
    const digest = await hashing.hash('a password')
    expect((await hashing.check('a password', digest)).newDigest).toBeNull()
    const others = [
      { memoryKib: 8192, iterations: 2 },
      { memoryKib: 4096, iterations: 1 },
    ]
    for (const other of others) {
      const made = await Bun.password.hash('a password', {
        algorithm: 'argon2id',
        memoryCost: other.memoryKib,
        timeCost: other.iterations,
      })
      const { right, newDigest } = await hashing.check('a password', made)
      expect([right, newDigest?.startsWith('$argon2id$v=19$m=8192,t=1,p=1$')]).toEqual([true, true])
      expect(await hashing.verify('a password', newDigest)).toBe(true)
    }
  })

  test('that is none, asks for too much, or is absent, costs the work of a true one and is false', async () => {
    const heavy = startHashing({ concurrency: 1, queue: 0 })
    const digest = await heavy.hash('a password')
    const tail = digest.split('$').slice(4).join('$')
    const others: [string, string | null][] = [
      ['a password', null],
      ['', digest],
      ['a\0', digest],
      ['a password', 'nothing'],
      ['a password', `$argon2id$v=19$m=4194304,t=2,p=1$${tail}`],
      ['a password', `$argon2id$v=19$m=19456,t=200,p=1$${tail}`],
      // The shortest salt and hash.
      ['a password', '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAA'],
      // It is within the bounds and still refused, because bits that do not count are set.
      ['a password', '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAB$AAAAAAAAAAAAAAAA'],
    ]
    for (const [password, stored] of others) {
      expect(await heavy.verify(password, stored)).toBe(false)
      const againstTrueOne = () =>
        medianRatio(
          () => heavy.verify(password, stored),
          () => heavy.verify('another password', digest),
          5,
        )
      expect(await measured(againstTrueOne, (ratio) => ratio > 0.5 && ratio < 2)).toBeWithin(0.5, 2)
    }
    heavy.close()
  })
})

describe('where stored digests are not all of today’s kind', () => {
  const today = { memoryKib: 16_384, iterations: 2 }
  const queue = { concurrency: 1, queue: 64, reserved: 0 }
  const older = 'argon2id$v=19$m=4096,t=3,p=1'
  const bcrypt = '$2a$08$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe'
  const makeOlder = async () =>
    Bun.password.hash('a password', { algorithm: 'argon2id', memoryCost: 4096, timeCost: 3 })

  test('a wrong password takes the same time for each of them, for a new one and for none', async () => {
    const service = startHashing({ ...today, ...queue }, storing([older, 0], ['bcrypt', 9]))
    const [made, old] = [await service.hash('a password'), await makeOlder()]
    const digests = [made, old, bcrypt, null]
    await expectSameWork(digests.map((digest) => () => service.verify('wrong', digest)))
    service.close()
  })

  test('so does a right one where the answer does not tell', async () => {
    const service = startHashing({ ...today, ...queue }, storing([older, 0], ['bcrypt', 8]))
    const digests = [await service.hash('a password'), await makeOlder()]
    const calls = digests.map((digest) => async () => {
      expect(await service.check('a password', digest, { untold: true })).toEqual({
        right: true,
        newDigest: null,
      })
    })
    await expectSameWork([...calls, async () => void (await service.verify('wrong', null))])
    service.close()
  })

  test('the right own password costs one own hash', async () => {
    const service = startHashing({ ...today, ...queue }, storing(['bcrypt', 12]))
    const alone = startHashing({ ...today, ...queue })
    const made = await service.hash('a password')
    await expectSameWork([
      () => service.check('a password', made),
      () => alone.check('a password', made),
      () => alone.verify('wrong', null),
    ])
    service.close()
    alone.close()
  })

  test('the right password of an older one makes one of today’s', async () => {
    const service = startHashing({ ...today, ...queue }, storing([older, 0]))
    const { newDigest } = await service.check('a password', await makeOlder())
    expect(newDigest).toStartWith('$argon2id$v=19$m=16384,t=2,p=1$')
    expect(await service.check('a password', newDigest)).toEqual({ right: true, newDigest: null })
    service.close()
  })

  test('a family, or a larger number in it, that was not told of is learned from the first digest', async () => {
    const told: string[][] = []
    const service = createHashService({
      ...today,
      ...queue,
      store: storing(['bcrypt', 4]),
      onSeveralFamilies: (families) => told.push(families),
    })
    await service.check('wrong', await makeOlder())
    const own = 'argon2id$v=19$m=16384,t=2,p=1'
    expect(told).toEqual([
      [own, 'bcrypt'],
      [own, older, 'bcrypt'],
    ])
    await service.check('wrong', bcrypt)
    await expectSameWork([() => service.check('wrong', bcrypt), () => service.check('wrong', null)])
    service.close()
  })

  test('the index is asked again, and stops nothing where it is away', async () => {
    const answers: (() => Promise<Family[]>)[] = [
      () => Promise.reject(new Error('connection')),
      async () => [
        { family: 'bcrypt', number: 31 },
        { family: older, number: 0 },
        { family: 'argon2id$v=19$m=4194304,t=2,p=1', number: 0 },
        { family: 'anything else', number: 0 },
      ],
    ]
    const store = { listFamilies: () => (answers.shift() as (typeof answers)[number])() }
    const families = createFamilies({ store, configured: today })
    await families.start()
    expect(families.row()).toEqual([{ family: families.today, number: 0 }])
    await families.refresh()
    // What is never verified costs nobody anything.
    expect(families.row().map(({ family, number }) => [family, number])).toEqual([
      [families.today, 0],
      [older, 0],
      ['bcrypt', 14],
    ])
    families.close()
  })

  test('wrong passwords keep right ones waiting for no more than the stage under way', async () => {
    const service = startHashing({ ...today, ...queue, memoryKib: 64 }, storing(['bcrypt', 9]))
    const made = await service.hash('a password')
    const order: string[] = []
    const wrong = Array.from({ length: 8 }, () =>
      service.verify('wrong', null).then(() => order.push('wrong')),
    )
    await wrong[0]
    await Promise.all(
      Array.from({ length: 8 }, () => service.verify('a password', made).then(() => order.push('right'))),
    )
    expect(order.filter((one) => one === 'wrong').length).toBeLessThanOrEqual(2)
    await Promise.all(wrong)
    service.close()
  })

  test('64 wait for their later stages, and the next one is told to come back', async () => {
    const service = startHashing({ ...today, ...queue, memoryKib: 64, queue: 100 }, storing(['bcrypt', 6]))
    const tries = await Promise.all(
      Array.from({ length: 80 }, () => errorCodeOf(service.verify('wrong', null))),
    )
    expect(tries.filter((code) => code === 'server_busy').length).toBe(80 - 64 - 1)
    expect(await service.verify('wrong', null)).toBe(false)
    service.close()
  })
})

describe('under load', () => {
  test('so many are at work, so many wait, the rest is told at once to come back in a second', async () => {
    const untilRefused = async () => {
      const small = startHashing({ concurrency: 1, queue: 3 })
      const start = performance.now()
      const refusedAfterMs: number[] = []
      const results = await Promise.all(
        Array.from({ length: 10 }, () =>
          small.verify('a password', null).catch((error: AppError) => {
            refusedAfterMs.push(performance.now() - start)
            return [error.errorCode, error.details.retryAfterSeconds]
          }),
        ),
      )
      expect(results).toEqual([...Array(4).fill(false), ...Array(6).fill(['server_busy', 1])])
      expect(await small.verify('a password', null)).toBe(false)
      small.close()
      return Math.max(...refusedAfterMs)
    }
    expect(await measured(untilRefused, (ms) => ms < 20)).toBeLessThan(20)
  })

  test('who came first is served first, and who comes later overtakes nobody', async () => {
    const single = startHashing({ memoryKib: 64, iterations: 1, concurrency: 1, queue: 50 })
    const order: number[] = []
    const first = Array.from({ length: 20 }, (_, index) =>
      single.verify('x', null).then(() => order.push(index)),
    )
    await first[5]
    const second = Array.from({ length: 20 }, (_, index) =>
      single.verify('x', null).then(() => order.push(20 + index)),
    )
    await Promise.all([...first, ...second])
    expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index))
    single.close()
  })

  test('the reserved places are for owners alone, who are served before strangers that came earlier', async () => {
    const single = startHashing({ concurrency: 1, queue: 8, reserved: 3 })
    const order: string[] = []
    const call = (caller: 'stranger' | 'owner') =>
      single
        .verify('x', null, { owner: caller === 'owner' })
        .then(() => order.push(caller))
        .catch((error: AppError) => error.errorCode)
    const strangers = Array.from({ length: 10 }, () => call('stranger'))
    await Bun.sleep(0)
    expect(() => single.requireFreePlace()).toThrow('server_busy')
    expect(() => single.requireFreePlace({ owner: true })).not.toThrow()
    const owners = Array.from({ length: 5 }, () => call('owner'))
    const settled = await Promise.all([...strangers, ...owners])
    expect(settled.filter((one) => one === 'server_busy')).toHaveLength(4 + 2)
    // One is at work and one stands behind it before the first owner comes.
    expect(order).toEqual(['stranger', 'stranger', ...Array(3).fill('owner'), ...Array(4).fill('stranger')])
    single.close()
  })

  test('a queue with fewer places than are to be reserved reserves none', async () => {
    const single = startHashing({ concurrency: 1, queue: 2, reserved: 16 })
    const tries = await Promise.all(Array.from({ length: 5 }, () => errorCodeOf(single.verify('x', null))))
    expect(tries.filter((code) => code === 'server_busy')).toHaveLength(2)
    single.close()
  })

  test('500 at once cost less than 100 MB and leave none of it waiting', async () => {
    const service = startHashing({ concurrency: 0, queue: 64 })
    await service.verify('a password', null)
    Bun.gc(true)
    const idle = process.memoryUsage.rss()
    let peak = idle
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 5)
    const settled = await Promise.allSettled(
      Array.from({ length: 500 }, () => service.verify('a password', null)),
    )
    clearInterval(watch)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(availableParallelism() + 64)
    expect((peak - idle) / 1048576).toBeLessThan(100)
    service.close()
  })

  test('signing does not wait for the passwords at work', async () => {
    const service = startHashing({ concurrency: 0, queue: 64 })
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const { privateKey } = (await crypto.subtle.generateKey(algorithm, false, [
      'sign',
      'verify',
    ])) as CryptoKeyPair
    const againstOneHash = async () => {
      const one = await medianMs(() => service.verify('a password', null))
      const work = Promise.all(Array.from({ length: 20 }, () => service.verify('a password', null)))
      const ms = await medianMs(() => crypto.subtle.sign(algorithm, privateKey, new Uint8Array(100)), 51)
      await work
      return ms / one
    }
    expect(await measured(againstOneHash, (ratio) => ratio < 0.25)).toBeLessThan(0.25)
    service.close()
  })

  test('a closed service answers that it is unavailable', async () => {
    const service = startHashing({ concurrency: 1, queue: 5 })
    const waiting = [service.verify('x', null), service.verify('x', null)].map(errorCodeOf)
    service.close()
    expect(await Promise.all(waiting)).toEqual(['unavailable', 'unavailable'])
    expect(await errorCodeOf(service.verify('x', null))).toBe('unavailable')
  })
})

test('a wrong password of each imported family costs what it costs for nobody', async () => {
  const families: [family: string, number: number, largest: number][] = [
    ['bcrypt', 5, 8],
    ['pbkdf2-sha512', 10_000, 60_000],
    ['scrypt$ln=12,r=8,p=1', 0, 0],
    ['fbscrypt$ln=12,r=8,p=1', 0, 0],
    ['argon2d$v=19$m=4096,t=2,p=2', 0, 0],
    ['wrapped-crypt-sha512$m=1024,t=1,p=1', 5000, 40_000],
    ['wrapped-phpass-md5$m=1024,t=1,p=1', 8192, 65_536],
    ['wrapped-digest$m=1024,t=1,p=1', 0, 0],
  ]
  const service = startHashing(
    { memoryKib: 1024, iterations: 1, concurrency: 1, queue: 64 },
    storing(...families.map(([family, , largest]): [string, number] => [family, largest])),
  )
  const digests = families.map(([family, number]) => decoyDigest(family, number))
  await expectSameWork([null, ...digests].map((digest) => () => service.verify('a wrong password', digest)))
  service.close()
}, 180_000)
