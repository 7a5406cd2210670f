/**
 * Applications are told of ended sessions while one of them hangs or refuses, and by a process that takes the place of one that
 * was killed: nobody waits for another one, nothing is lost, and nobody hears of the sessions of somebody else.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { decodeJwt } from 'jose'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { type ApiClient, newEmail } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { addressOf, codeFor, newVerifier, signedInBrowser, token } from '../helpers/hand-over.ts'
import { pageSettings } from '../helpers/page-browser.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { openToldApplication } from '../helpers/told-application.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(600_000)

const [first, second] = [openToldApplication(), openToldApplication()]
afterAll(() => Promise.all([first.close(), second.close()]))

const entry = (id: string, backchannel_logout_uri: string) => ({
  ...{ id, name: id, redirect_uris: [addressOf(id)], own: true },
  backchannel_logout_uri,
})
const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: { enabled: true, applications: [entry('first', first.address), entry('second', second.address)] },
}

/** The sessions of both applications below that many browsers of one person, and a token that ends them all. */
async function handedOver(service: ApiClient & { url: string }, browsers: number) {
  const sids: Record<'first' | 'second', string[]> = { first: [], second: [] }
  const email = newEmail()
  let bearer = ''
  for (let count = 0; count < browsers; count++) {
    const { browser } = await signedInBrowser(service as TestService, count === 0 ? email : newEmail())
    for (const id of ['first', 'second'] as const) {
      const code_verifier = newVerifier()
      const code = await codeFor(browser, id, {}, code_verifier)
      const form = { grant_type: 'authorization_code', code, client_id: id, redirect_uri: addressOf(id) }
      const { body } = await token(service, { ...form, code_verifier })
      bearer = body.access_token
      sids[id].push(decodeJwt(bearer).sid as string)
    }
    await service.post('logout-all', {}, { bearer })
  }
  return sids
}

/** The session of the second application below a new person's browser. */
async function openSecond(service: ApiClient & { url: string }) {
  const { browser } = await signedInBrowser(service as TestService)
  const code_verifier = newVerifier()
  const code = await codeFor(browser, 'second', {}, code_verifier)
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id: 'second',
    redirect_uri: addressOf('second'),
  }
  const bearer: string = (await token(service, { ...form, code_verifier })).body.access_token
  return { bearer, sid: decodeJwt(bearer).sid as string }
}

/** Ends the sessions of sixteen people at one of two processes, which is killed before it has told all. */
async function killWhileTelling(victim: Executable, other: Executable, sooner: number) {
  const sessions: Awaited<ReturnType<typeof openSecond>>[] = []
  for (let count = 0; count < 16; count++) sessions.push(await openSecond(count % 2 ? victim : other))
  second.answerWith(async () => {
    await Bun.sleep(Math.random() * 200)
    return new Response(null)
  })
  const before = second.received.length
  const ends = sessions.map(async ({ bearer }, index) => {
    await Bun.sleep(index * 20)
    await victim.post('logout-all', {}, { bearer }).catch(() => null)
  })
  await waitFor(() => second.received.length > before + sooner, { what: 'logouts under way', intervalMs: 5 })
  await victim.kill('SIGKILL')
  await Promise.all(ends)
  await victim.start()
  return sessions
}

describe('a process that is killed while applications are told', () => {
  const KILLS = 10

  test('leaves nothing untold, and tells nobody of the sessions of another one', async () => {
    const service = await startExecutable({ shape: 'postgres', settings })
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        first.hang()
        second.answerWith(async () => {
          await Bun.sleep(Math.random() * 100)
          return new Response(null)
        })
        const sids = await handedOver(service, 3)
        const toldOf = () => sids.first.filter((sid) => first.of(sid).length > 0)
        await waitFor(() => toldOf().length === 3, { what: 'logouts under way' })
        expect(await service.kill('SIGKILL')).toBe(137)
        first.answerStatus(200)
        second.answerStatus(200)
        const before = first.received.length
        await service.start()
        await waitFor(
          () => new Set(first.received.slice(before).map(({ token }) => decodeJwt(token).sid)).size === 3,
        )
        await waitFor(() => sids.second.every((sid) => second.of(sid).length > 0))
        // What was recorded before the kill is not told again.
        for (const sid of sids.second) expect(second.of(sid).length).toBeLessThanOrEqual(2)
        for (const sid of sids.first) expect(first.of(sid)).toHaveLength(2)
      }
      for (const [id, { received }] of Object.entries({ first, second }))
        expect(received.filter(({ token }) => decodeJwt(token).aud !== id)).toEqual([])
    } finally {
      await service.close()
    }
  })

  test('beside another one, ten times: every session that ended is told, and no living one', async () => {
    const service = await startExecutable({ shape: 'postgres', settings })
    const { storage, smtp, gateway } = service
    const replica = await startExecutable({ storage, smtp, gateway, settings })
    const told: number[] = []
    try {
      for (let kill = 0; kill < 10; kill++) {
        const [victim, other] = kill % 2 === 0 ? [service, replica] : [replica, service]
        const sessions = await killWhileTelling(victim, other, kill)
        for (const { bearer, sid } of sessions) {
          const lives = (await other.get('me', { bearer })).status === 200
          if (!lives) await waitFor(() => second.of(sid).length > 0, { what: 'an ended session to be told' })
        }
        // What the killed one had claimed is due again when its lease ends.
        await Bun.sleep(8000)
        for (const { bearer, sid } of sessions) {
          const lives = (await other.get('me', { bearer })).status === 200
          expect({ lives, told: second.of(sid).length > 0 }).toEqual({ lives, told: !lives })
          told.push(second.of(sid).length)
        }
      }
    } finally {
      await Promise.all([service.close(), replica.close()])
    }
    const times = [0, 1, 2, 3].map((count) => told.filter((one) => one === count).length)
    process.stdout.write(`told never, once, twice, more often: ${times}\n`)
    expect(Math.max(...told)).toBeLessThanOrEqual(2)
  }, 1_800_000)
})

describe('an application', () => {
  const insert = statement<{ count: number; now: Date }>(sql`
    insert into messages (channel, destination, purpose, language, "values", created_at, next_attempt_at)
    select 'application', 'first', 'logout', 'en',
           jsonb_build_object('sub', gen_random_uuid(), 'sid', gen_random_uuid()), ${param('now', 'timestamptz')},
           ${param('now', 'timestamptz')} - interval '1 minute'
      from generate_series(1, ${param('count', 'int')})`)

  /** 64 MB in 64 kB. */
  const packed = Bun.gzipSync(new Uint8Array(1 << 26))
  const troubles = {
    hangs: first.hang,
    refuses: () => first.answerStatus(503),
    'answers much, packed small': () =>
      first.answerWith(() => new Response(packed, { headers: { 'content-encoding': 'gzip' } })),
  }

  test.each(Object.entries(troubles))('that %s keeps nobody else waiting', async (_, begin) => {
    begin()
    second.answerStatus(200)
    await using service = await startService({ shape: 'postgres', settings })
    const before = first.received.length
    await service.inside.database.run(insert, { count: 300, now: service.clock.now() })
    await waitFor(() => first.received.length >= before + 8, { what: 'the first requests' })
    const sids = await handedOver(service, 1)
    const endedAt = performance.now()
    await waitFor(() => sids.second.every((sid) => second.of(sid).length > 0), { what: 'the other one' })
    expect(performance.now() - endedAt).toBeLessThan(1500)
  })

  test('that refuses gets one request at a time, and all that waits once it takes one', async () => {
    first.answerStatus(503)
    await using service = await startService({ shape: 'postgres', settings })
    const before = first.received.length
    await service.inside.database.run(insert, { count: 300, now: service.clock.now() })
    await waitFor(() => first.received.length > before + 4, { what: 'the first requests' })
    await Bun.sleep(2500)
    expect(first.received.length - before).toBeLessThan(25)
    first.answerStatus(200)
    const back = first.received.length
    service.clock.advance(60_000)
    await waitFor(() => first.received.length - back >= 300, { what: 'what waited' })
    await Bun.sleep(500)
    expect(first.received.length - back).toBe(300)
  })
})
