/** The native addon verifies what Bun.password verifies, gets nothing else, and is missed by nobody where it is away. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decoyDigest } from '../../src/domain/foundation/decoys/decoys.ts'
import { parseDigest, suitsAddon } from '../../src/domain/foundation/hashing/digest.ts'
import {
  createHashThreads,
  type HashJob,
  type HashThreads,
  type HashThreadsOptions,
} from '../../src/domain/foundation/hashing/hash-threads.ts'
import { createHashService } from '../../src/domain/foundation/hashing/service.ts'
import type { Verifier } from '../../src/domain/foundation/hashing/thread-source.ts'
import { reduced } from '../helpers/soak.ts'

setDefaultTimeout(120_000)

const cheap = { memoryKib: 64, iterations: 1 }
const hashCheaply = (password: string, memoryCost = 64, timeCost = 1) =>
  Bun.password.hash(password, { algorithm: 'argon2id', memoryCost, timeCost })
const nothing =
  '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

const job = {
  ...{ kind: 'verify', password: { typed: 'x', normal: 'x' }, stored: null, rest: [], all: [] },
  ...{ goesOn: false, renewal: null },
} satisfies HashJob

/** One thread, whose every verification is asked of both verifiers. */
async function startBoth() {
  const verifiers: Verifier[] = []
  const threads = createHashThreads(1, { onStart: (verifier) => verifiers.push(verifier) })
  const right = async (password: string, digest: string, suits: boolean) => {
    const typed = { typed: password, normal: password }
    const result = await threads.run({ ...job, password: typed, stored: { digest, suitsAddon: suits } })
    return (result as { right: boolean } | null)?.right
  }
  await right('nothing', nothing, false)
  expect(verifiers).toEqual([{ by: 'addon' }])
  return { threads, byAddon: suitedTo(right, true), byBun: suitedTo(right, false) }
}

const suitedTo =
  (
    right: (password: string, digest: string, suits: boolean) => Promise<boolean | undefined>,
    suits: boolean,
  ) =>
  (password: string, digest: string) =>
    right(password, digest, suits)

/** Repeats the same run in every test run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

function randomPassword(next: (below: number) => number): string {
  const planes = [0x7f, 0x7ff, 0xffff, 0x110000]
  const length = next(40) === 0 ? 256 : 1 + next(24)
  const points = Array.from({ length }, () => next(planes[next(4)] as number))
  // Both verifiers get what JavaScript holds: NUL and unpaired surrogates as well, which the service itself refuses.
  return String.fromCodePoint(...points)
}

describe('the addon', () => {
  const digests = reduced(250, 1000)
  test(`verifies ${digests} digests of Bun.password like Bun.password, right and wrong`, async () => {
    const { threads, byAddon, byBun } = await startBoth()
    const next = numbersFrom(1)
    const passwords = ['a', 'x'.repeat(256), '🦊'.repeat(256), 'nul\0inside', '\ud800', 'a\udc00\ud800b']
    while (passwords.length < digests) passwords.push(randomPassword(next))
    for (const password of passwords) {
      const digest = await hashCheaply(password, 8 + next(256), 1 + next(3))
      expect(suitsAddon(digest, cheap)).toBe(true)
      for (const typed of [password, `${password}x`, password.slice(0, -1), password.toUpperCase()])
        expect([typed, await byAddon(typed, digest)]).toEqual([typed, await byBun(typed, digest)])
      expect(await byAddon(password, digest)).toBe(true)
    }
    threads.close()
  })

  test('has no empty password, like Bun.password', async () => {
    const service = startService()
    const digest = await service.hash('a password')
    for (const typed of ['', '\0', '\ud800']) expect((await service.check(typed, digest)).right).toBe(false)
    service.close()
  })

  const mutations = reduced(2500, 10_000)
  test(`takes none of ${mutations} mutated digests, and none ends the process`, async () => {
    const { threads, byAddon, byBun } = await startBoth()
    const next = numbersFrom(2)
    const original = await hashCheaply('a password')
    let forAddon = 0
    for (let i = 0; i < mutations; i++) {
      const mutated = mutate(original, next)
      if (mutated === original) continue
      const suits = suitsAddon(mutated, cheap)
      if (suits) forAddon++
      if (!suits && isNotAsked(mutated)) continue
      expect([mutated, await (suits ? byAddon : byBun)('a password', mutated)]).toEqual([mutated, false])
    }
    expect(forAddon).toBeGreaterThan(100)
    expect(await byAddon('a password', original)).toBe(true)
    threads.close()
  })

  test('survives what the gate would never let through', async () => {
    const { threads, byAddon } = await startBoth()
    const original = await hashCheaply('a password')
    const parts = original.split('$')
    const strange = [
      '',
      '$',
      '\0',
      original.slice(0, 40),
      `${original}\n`,
      original.replace('v=19', 'v=16'),
      original.replace('argon2id', 'argon2x'),
      original.replace('m=64', 'm=0'),
      original.replace('t=1', 't=0'),
      original.replace('p=1', 'p=0'),
      original.replace('m=64', 'm=7'),
      `${parts.slice(0, 4).join('$')}$${'A'.repeat(100_000)}$${parts[5]}`,
      `${parts.slice(0, 5).join('$')}$${'A'.repeat(100_000)}`,
      '\ud800'.repeat(50),
    ]
    for (const digest of strange)
      expect([digest, await byAddon('a password', digest)]).toEqual([digest, false])
    expect(await byAddon('a password', original)).toBe(true)
    threads.close()
  })

  const rounds = reduced(3, 100)
  test(`verifies ${rounds * 1000} times without keeping memory`, async () => {
    const { threads, byAddon } = await startBoth()
    const digest = await hashCheaply('a password', reduced(64, 1024))
    const resident: number[] = []
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 1000; i++) await byAddon(i % 2 === 0 ? 'a password' : 'another one', digest)
      Bun.gc(true)
      resident.push(process.memoryUsage.rss())
    }
    const grown = ((resident.at(-1) as number) - (resident[1] as number)) / 1e6
    process.stdout.write(`${rounds * 1000} verifications: ${grown.toFixed(1)} MB more\n`)
    expect(grown).toBeLessThan(10)
    threads.close()
  }, 600_000)
})

/** Replaces, removes, doubles or inserts something, one to three times. */
function mutate(digest: string, next: (below: number) => number): string {
  const alphabet = 'ABCxyz0123456789+/$=,.-_ \n\0\u00e9🦊'
  const one = (text: string): string => {
    const at = next(text.length)
    const letter = [...alphabet][next([...alphabet].length)] as string
    const cases = [
      () => text.slice(0, at) + letter + text.slice(at + 1),
      () => text.slice(0, at) + text.slice(at + 1),
      () => text.slice(0, at) + letter + text.slice(at),
      () => text.slice(0, at),
      () => text.slice(0, at) + text.slice(at - next(8)),
      () => text.replace('argon2id', ['argon2i', 'argon2d', 'argon2', 'scrypt'][next(4)] as string),
      () => text.replace('v=19', `v=${next(30)}`),
      () => text.replace(/m=\d+/, `m=${[0, 1, 7, 8, 63, 65, 2 ** 32, 2 ** 31, 1e12][next(9)]}`),
      () => text.replace(/t=\d+/, `t=${[0, 2, 3, 2 ** 32][next(4)]}`),
      () => text.replace(/p=\d+/, `p=${[0, 2, 3, 255, 2 ** 24][next(5)]}`),
      () => `${text}${letter}`,
    ]
    return (cases[next(cases.length)] as () => string)()
  }
  let mutated = digest
  for (let times = 1 + next(3); times > 0 && mutated !== ''; times--) mutated = one(mutated)
  return mutated
}

/** The service counts it as no digest, or it would only take long. */
function isNotAsked(digest: string): boolean {
  const found = parseDigest(digest)
  if (found === null) return true
  const iterations = Number(/,t=(\d+),/.exec(found.family)?.[1])
  return found.family !== 'bcrypt' && found.memoryKib * iterations > 65_536
}

describe('the gate', () => {
  const digest =
    '$argon2id$v=19$m=19456,t=2,p=1$S/8W16ud8yYqwhFzKrXrOg$Jk03+X4HEWm2jSK6crieKBX2jmTz5UjQDLvX1xQR0ic'
  const today = { memoryKib: 19_456, iterations: 2 }

  test.each([
    ['what Bun makes', digest],
    ['256 MiB', digest.replace('19456', '262144')],
    ['ten passes', digest.replace('t=2', 't=10')],
    ['the least memory', digest.replace('19456', '8')],
    ['a decoy', decoyDigest('argon2id$v=19$m=19456,t=2,p=1')],
  ])('lets %s through', (_, text) => expect(suitsAddon(text, today)).toBe(true))

  test('lets through what the configuration asks for, however much', () => {
    const large = digest.replace('19456', '524288').replace('t=2', 't=20')
    expect(suitsAddon(large, today)).toBe(false)
    expect(suitsAddon(large, { memoryKib: 524_288, iterations: 20 })).toBe(true)
  })

  test.each([
    ['argon2i', digest.replace('argon2id', 'argon2i')],
    ['argon2d', digest.replace('argon2id', 'argon2d')],
    ['version 16', digest.replace('v=19', 'v=16')],
    ['two lanes', digest.replace('p=1', 'p=2')],
    ['more than 256 MiB', digest.replace('19456', '262145')],
    ['eleven passes', digest.replace('t=2', 't=11')],
    ['less memory than a lane takes', digest.replace('19456', '7')],
    ['bcrypt', '$2b$10$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'],
    ['unused bits that are set', digest.replace(/c$/, 'd')],
    ['unused bits of the salt that are set', digest.replace('XrOg$', 'XrOh$')],
    ['more than 64 bytes', `${digest}${'A'.repeat(44)}`],
    ['a truncated one', digest.slice(0, -28)],
    ['padding', `${digest}=`],
    ['a line break behind it', `${digest}\n`],
    ['further parameters', digest.replace('p=1', 'p=1,keyid=AAAA')],
    ['a leading zero', digest.replace('t=2', 't=02')],
  ])('keeps %s from the addon', (_, text) => expect(suitsAddon(text, today)).toBe(false))
})

const noAccounts = { listFamilies: async () => [] }

function startService(options: Partial<Parameters<typeof createHashService>[0]> = {}) {
  return createHashService({
    ...cheap,
    concurrency: 2,
    queue: 64,
    reserved: 0,
    store: noAccounts,
    ...options,
  })
}

describe('where the addon cannot be used', () => {
  const directory = mkdtempSync(join(tmpdir(), 'addons-'))
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(directory, name)
    writeFileSync(path, content)
    return path
  }
  const addons: [string, NonNullable<HashThreadsOptions['addon']>, RegExp][] = [
    ['because there is none', { missing: 'there is no addon for plan9 on vax' }, /plan9/],
    ['because its file is away', { path: '/nowhere/argon2.node' }, /nowhere/],
    ['because its file is not a library', { path: file('text.node', 'not a library') }, /text\.node/],
    ['because its file is cut short', { path: file('short.node', '\x7fELF') }, /short\.node/],
    ['because it is another library', { path: '/lib/x86_64-linux-gnu/libm.so.6' }, /.+/],
  ]

  test.each(addons)('%s, Bun.password verifies alike, and says so once', async (_, addon, reason) => {
    const reasons: string[] = []
    const verifiers: string[] = []
    const service = startService({
      addon,
      onFallback: (said) => reasons.push(said),
      metrics: {
        count() {},
        observe: (...[, , labels]) => {
          verifiers.push(String((labels as unknown as { verifier: string }).verifier))
        },
      },
    })
    const digest = await service.hash('a password')
    const typed = ['a password', 'another', 'a password', 'another']
    const results = await Promise.all(typed.map((password) => service.check(password, digest)))
    expect(results.map(({ right }) => right)).toEqual([true, false, true, false])
    expect((await service.check('a password', null)).right).toBe(false)
    expect(reasons).toEqual([expect.stringMatching(reason)])
    expect(new Set(verifiers)).toEqual(new Set(['bun']))
    service.close()
  })
})

test('threads that start and end again and again leave the process alone', async () => {
  for (let round = 0; round < 20; round++) {
    const threads: HashThreads = createHashThreads(2)
    const done = Array.from({ length: 4 }, () => threads.run(job).catch(() => null))
    if (round % 2 === 0) await done[0]
    threads.close()
    await Promise.all(done)
  }
})
