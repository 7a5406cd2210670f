/** docs/client-example.ts, run as its readers run it: against the service, over a network that loses things. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { runInNewContext } from 'node:vm'
import {
  type ClientOptions,
  createClient,
  type keptFingerprint,
  PoterneError,
  type Tokens,
} from '../../docs/client-example.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService({ shape: 'redis' })

/** A script knows no exports: `export function` loses its first word, a list of names goes. */
const exported = (line: string) => (line.startsWith('export {') ? '' : line.slice('export '.length))

/** The paths that were asked on the way, and what the network does instead of the next answers. */
let asked: string[] = []
let accidents: ((answer: Response) => Response | never)[] = []
beforeEach(() => {
  asked = []
  accidents = []
})

const fetchWithAccidents: NonNullable<ClientOptions['fetch']> = async (url, init) => {
  asked.push(url.slice(url.lastIndexOf('/auth/') + 6))
  const answer = await fetch(url, init)
  const accident = accidents.shift()
  return accident ? accident(answer) : answer
}

function newClient(kept: { tokens: Tokens | null } = { tokens: null }, options: Partial<ClientOptions> = {}) {
  const store = {
    read: () => kept.tokens,
    write: (tokens: Tokens | null) => {
      kept.tokens = tokens
    },
  }
  return { kept, ...createClient({ baseUrl: service.url, store, fetch: fetchWithAccidents, ...options }) }
}

async function signedIn() {
  const email = newEmail()
  const client = newClient()
  await client.register({ email, password: PASSWORD })
  await client.confirm(email, await service.inbox.nextCode(email))
  const outcome = await client.logIn(email, PASSWORD)
  asked = []
  return { email, outcome, ...client }
}

const accessTokenExpires = () => service.clock.advance(16 * 60_000)

describe('the client example', () => {
  test('registers, confirms, signs in, and reads the account', async () => {
    const { email, outcome, kept, me } = await signedIn()
    expect(outcome).toMatchObject({ account: { email } })
    expect(Object.keys(kept.tokens!)).toEqual(['access_token', 'refresh_token'])
    expect((await me()).email).toBe(email)
  })

  test('confirms with the password, and is signed in at once', async () => {
    const email = newEmail()
    const { register, confirm, me, kept } = newClient()
    await register({ email, password: PASSWORD })
    expect(await confirm(email, await service.inbox.nextCode(email), PASSWORD)).toMatchObject({
      account: { email },
    })
    expect(Object.keys(kept.tokens!)).toEqual(['access_token', 'refresh_token'])
    expect((await me()).email).toBe(email)
  })

  test('refreshes by itself, once for many calls, and keeps the new tokens', async () => {
    const { call, kept } = await signedIn()
    const before = kept.tokens!
    accessTokenExpires()
    const answers = await Promise.all(Array.from({ length: 20 }, () => call<{ status: number }>('GET', 'me')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(asked.filter((path) => path === 'refresh')).toHaveLength(1)
    expect(kept.tokens!.refresh_token).not.toBe(before.refresh_token)
  })

  test('two tabs that share a store stay signed in', async () => {
    const { kept } = await signedIn()
    const [one, other] = [newClient(kept), newClient(kept)]
    for (let round = 0; round < 3; round++) {
      accessTokenExpires()
      await Promise.all([one.me(), other.me(), one.me(), other.me()])
    }
    expect((await one.me()).uuid).toBe((await other.me()).uuid)
  })

  test('survives a lost answer to a refresh, and a service that is away for a moment', async () => {
    const { me, kept } = await signedIn()
    accessTokenExpires()
    const lost = () => {
      throw new TypeError('the connection was closed')
    }
    const away = () => Response.json({ status: 503, code: 'unavailable', retry_after: 1 }, { status: 503 })
    accidents = [(answer) => answer, lost, away]
    expect((await me()).id).toBeGreaterThan(0)
    expect(asked).toEqual(['me', 'refresh', 'refresh', 'refresh', 'me'])
    expect(kept.tokens).not.toBeNull()
  }, 20_000)

  test('says that nobody is signed in any more when the session has ended, and forgets the tokens', async () => {
    const { kept } = await signedIn()
    let told = 0
    const { me, call } = newClient(kept, { onSignedOut: () => told++ })
    await call('POST', 'logout-all')
    await expect(me()).rejects.toMatchObject({ status: 401, code: 'invalid_token' })
    expect([kept.tokens, told]).toEqual([null, 1])
    await expect(me()).rejects.toMatchObject({ code: 'signed_out' })
  })

  test('logs out here and at the service', async () => {
    const { logOut, kept } = await signedIn()
    const { access_token } = kept.tokens!
    await logOut()
    expect(kept.tokens).toBeNull()
    expect((await service.get('me', { bearer: access_token })).body.code).toBe('invalid_token')
  })

  test('signs in with two factors', async () => {
    const email = newEmail()
    await protectBySentCodes(service, email)
    const { logIn, finishLogIn, me, kept } = newClient()
    const outcome = await logIn(email, PASSWORD)
    expect(outcome).toMatchObject({ twoFactor: { methods: ['email', 'recovery_code'], expires_in: 600 } })
    expect(kept.tokens).toBeNull()
    const { twoFactor } = outcome as { twoFactor: { login_token: string } }
    const wrong = await finishLogIn(email, '000000', twoFactor).catch((error: unknown) => error)
    expect(wrong).toMatchObject({ status: 422, code: 'invalid_code' })
    await finishLogIn(email, await service.inbox.nextCode(email), twoFactor)
    expect((await me()).two_factor_enabled).toBe(true)
  })

  test('turns failures into one error, in the language asked for, with the fields and the wait', async () => {
    const { register, logIn } = newClient(undefined, { language: 'en' })
    const failure = (await register({ email: 'nobody', password: 'x' }).catch(
      (error: unknown) => error,
    )) as PoterneError
    expect(failure).toBeInstanceOf(PoterneError)
    expect([failure.status, failure.code, failure.message]).toEqual([
      422,
      'validation_failed',
      'Some fields are not valid.',
    ])
    expect(failure.fields.map(({ field }) => field)).toContain('email')
    expect(failure.requestId).toMatch(/^[0-9a-f-]{36}$/)
    accidents = [
      () => Response.json({ status: 429, code: 'too_many_requests', retry_after: 37 }, { status: 429 }),
    ]
    await expect(logIn('a@example.com', 'x')).rejects.toMatchObject({ status: 429, retryAfterSeconds: 37 })
    accidents = [() => new Response('<html>a proxy’s page</html>', { status: 502 })]
    await expect(logIn('a@example.com', 'x')).rejects.toMatchObject({
      status: 502,
      code: 'unexpected_answer',
    })
  })

  test('runs in an engine that has no browser, no storage and no crypto', async () => {
    const source = await Bun.file(`${import.meta.dir}/../../docs/client-example.ts`).text()
    const script = new Bun.Transpiler({ loader: 'ts' })
      .transformSync(source)
      .replace(/^export .*$/gm, exported)
    const bare = runInNewContext(
      `${script}; ({ createClient, keptFingerprint, absent: [typeof localStorage, typeof crypto, typeof navigator] })`,
      {
        fetch,
        setTimeout,
      },
    ) as { createClient: typeof createClient; keptFingerprint: typeof keptFingerprint; absent: string[] }
    expect(bare.absent).toEqual(['undefined', 'undefined', 'undefined'])
    const kept = new Map<string, string>()
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    }
    const fingerprint = bare.keptFingerprint(storage, () => 'a name made by the platform')
    expect(bare.keptFingerprint(storage, () => 'another one')).toBe(fingerprint)
    const email = newEmail()
    let tokens: Tokens | null = null
    const store = {
      read: () => tokens,
      write: (newer: Tokens | null) => {
        tokens = newer
      },
    }
    const client = bare.createClient({ baseUrl: service.url, store, fingerprint, language: 'pt' })
    await client.register({ email, password: PASSWORD })
    await client.confirm(email, await service.inbox.nextCode(email), PASSWORD)
    expect((await client.me()).email).toBe(email)
    accessTokenExpires()
    expect((await client.me()).email).toBe(email)
    await client.logOut()
    expect(tokens).toBeNull()
  })
})
