/**
 * Applications are told of ended sessions while one of them hangs or refuses, and by a process that takes the place of one that
 * was killed: nobody waits for another one, nothing is lost, and nobody hears of the sessions of somebody else.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { decodeJwt } from 'jose'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { type ApiClient, newEmail } from '../helpers/api-client.ts'
import { startExecutable } from '../helpers/executable.ts'
import { addressOf, codeFor, newVerifier, signedInBrowser, token } from '../helpers/hand-over.ts'
import { pageSettings } from '../helpers/page-browser.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { openToldApplication } from '../helpers/told-application.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(reduced(90_000, 600_000))

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

describe('a process that is killed while applications are told', () => {
  const KILLS = reduced(1, 10)

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
})

describe('an application', () => {
  const insert = statement<{ count: number; now: Date }>(sql`
    insert into messages (channel, destination, purpose, language, "values", created_at, next_attempt_at)
    select 'application', 'first', 'logout', 'en',
           jsonb_build_object('sub', gen_random_uuid(), 'sid', gen_random_uuid()), ${param('now', 'timestamptz')},
           ${param('now', 'timestamptz')} - interval '1 minute'
      from generate_series(1, ${param('count', 'int')})`)

  const troubles = { hangs: first.hang, refuses: () => first.answerStatus(503) }

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

  longTest('that refuses gets one request at a time, and all that waits once it takes one', async () => {
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
