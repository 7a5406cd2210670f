/** The client package against the service, over a network that loses things. */
import { describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { type ClientOptions, type ClientStorage, createClient, PoterneError } from '../../src/client/index.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { longTest } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService({ shape: 'redis' })

/** A storage, the paths that were asked on the way, and what the network does instead of the next answers. */
function world(kept = new Map<string, string>()) {
  const asked: string[] = []
  const accidents: ((answer: Response) => Response | Promise<Response> | never)[] = []
  const storage: ClientStorage = {
    getItem: (name) => kept.get(name),
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  }
  const fetchWithAccidents: NonNullable<ClientOptions['fetch']> = async (address, init) => {
    asked.push(address.slice(address.lastIndexOf('/auth/') + 6))
    const answer = await fetch(address, init)
    const accident = accidents.shift()
    return accident ? accident(answer) : answer
  }
  const open = (options: Partial<ClientOptions> = {}) =>
    createClient({ url: service.url, storage, fetch: fetchWithAccidents, ...options })
  const tokens = () => JSON.parse(kept.get('poterne') ?? 'null') as Record<string, string> | null
  return { kept, asked, accidents, open, tokens, storage }
}

async function signedIn() {
  const email = newEmail()
  const here = world()
  const client = here.open()
  await client.register({ email, password: PASSWORD })
  await client.confirm({ identifier: email, otp: await service.inbox.nextCode(email), password: PASSWORD })
  here.asked.length = 0
  return { ...here, client, email }
}

const accessTokenExpires = () => service.clock.advance(16 * 60_000)
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error) as Promise<PoterneError>

describe('the client', () => {
  test('registers, confirms, signs in, and reads the account', async () => {
    const email = newEmail()
    const { open, tokens } = world()
    const auth = open()
    expect(auth.state).toEqual({ status: 'signed_out', account: null })
    await auth.register({ email, password: PASSWORD })
    const confirmed = await auth.confirm({ identifier: email, otp: await service.inbox.nextCode(email) })
    expect(Object.keys(confirmed)).toEqual(['message'])
    const step = await auth.signIn({ identifier: email, password: PASSWORD })
    expect(step.account?.email).toBe(email)
    expect(auth.state).toMatchObject({ status: 'signed_in', account: { email } })
    expect(Object.keys(tokens()!)).toEqual(['access_token', 'refresh_token', 'account', 'came'])
    expect((await auth.reload()).email).toBe(email)
    expect((await auth.call('GET', 'sessions')).sessions).toHaveLength(1)
  })

  test('a password is typed once in a call too, also where nobody is signed in', async () => {
    const body = { email: newEmail(), password: PASSWORD }
    expect((await world().open().call('POST', 'register', body)).status).toBe(201)
  })

  test('confirms with the password, and is signed in at once', async () => {
    const { client, email } = await signedIn()
    expect(client.state.account?.email).toBe(email)
  })

  test('shows a stored account at once, and tells listeners of each change, whatever they throw', async () => {
    const { open, email, client } = await signedIn()
    const auth = open()
    expect(auth.state).toMatchObject({ status: 'signed_in', account: { email } })
    expect(auth.state).toBe(auth.state)
    const seen: string[] = []
    auth.subscribe(() => {
      throw new Error('a listener')
    })
    const end = auth.subscribe(() => void seen.push(auth.state.status))
    await auth.reload()
    await client.signOut()
    await failure(auth.reload())
    end()
    await auth.signIn({ identifier: email, password: PASSWORD })
    expect(seen).toEqual(['signed_out'])
  })

  test('refreshes once for 200 calls at expiry, and keeps the new pair', async () => {
    const { client, tokens, asked } = await signedIn()
    const before = tokens()!
    accessTokenExpires()
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.call('GET', 'me')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(asked.filter((path) => path === 'refresh')).toHaveLength(1)
    expect(tokens()!.refresh_token).not.toBe(before.refresh_token as string)
  })

  test('refreshes before the end by the time since the token came, whatever the clock says', async () => {
    const { kept, tokens, asked, open } = await signedIn()
    const passed = async (seconds: number) => {
      kept.set('poterne', JSON.stringify({ ...tokens(), came: Date.now() - seconds * 1000 }))
      asked.length = 0
      await open().call('GET', 'me')
      return asked.join()
    }
    const { exp, iat } = decodeJwt(tokens()!.access_token as string)
    const life = exp! - iat!
    expect(await passed(0)).toBe('me')
    expect(await passed(life - 31)).toBe('me')
    expect(await passed(life - 29)).toBe('refresh,me')
    expect(await passed(-3600)).toBe('refresh,me')
  })

  test('two clients that share a storage stay signed in', async () => {
    const { open } = await signedIn()
    const [one, other] = [open(), open()]
    for (let round = 0; round < 3; round++) {
      accessTokenExpires()
      await Promise.all([one.reload(), other.reload(), one.reload(), other.reload()])
    }
    expect((await one.reload()).uuid).toBe((await other.reload()).uuid)
  })

  test('survives a lost answer to a refresh, and a service that is away for a moment', async () => {
    const { client, tokens, asked, accidents } = await signedIn()
    accessTokenExpires()
    const lost = () => {
      throw new TypeError('the connection was closed')
    }
    const away = () => new Response('<html>a proxy’s page</html>', { status: 502 })
    accidents.push((answer) => answer, lost, away)
    expect((await client.call('GET', 'me')).account.id).toBeGreaterThan(0)
    expect(asked).toEqual(['me', 'refresh', 'refresh', 'refresh', 'me'])
    expect(tokens()).not.toBeNull()
  }, 20_000)

  longTest(
    'is signed out by a refusal of its refresh alone, not by a 401 of a proxy',
    async () => {
      const { client, accidents, open, tokens } = await signedIn()
      accessTokenExpires()
      const proxy = () => new Response('<html>sign in to the hotel</html>', { status: 401 })
      accidents.push((answer) => answer, proxy, proxy, proxy)
      expect((await failure(client.reload())).code).toBe('network')
      expect(tokens()).not.toBeNull()
      await open().call('POST', 'logout-all', {})
      expect((await failure(client.reload())).code).toBe('signed_out')
      expect([client.state.status, tokens()]).toEqual(['signed_out', null])
    },
    20_000,
  )

  test('a refresh that is refused late signs nobody out who signed in meanwhile', async () => {
    const { client, accidents, open, tokens } = await signedIn()
    const other = await signedIn()
    await other.client.signOut()
    accessTokenExpires()
    await open().call('POST', 'logout-all', {})
    accidents.push(
      (answer) => answer,
      async (answer) => {
        await open().signIn({ identifier: other.email, password: PASSWORD })
        return answer
      },
    )
    expect((await failure(client.reload())).code).toBe('signed_out')
    expect(client.state.account?.email).toBe(other.email)
    expect(tokens()!.account).toMatchObject({ email: other.email })
  })

  test('a refresh that answers after a sign-out brings nobody back', async () => {
    const { client, accidents, open, tokens } = await signedIn()
    accessTokenExpires()
    accidents.push(
      (answer) => answer,
      async (answer) => {
        await open().signOut()
        return answer
      },
    )
    expect((await failure(client.reload())).code).toBe('signed_out')
    expect(tokens()).toBeNull()
  })

  test('a call never goes on in the session of the next person', async () => {
    const { client, accidents, open, asked } = await signedIn()
    const next = await signedIn()
    accessTokenExpires()
    accidents.push(async (answer) => {
      await open().signIn({ identifier: next.email, password: PASSWORD })
      return answer
    })
    expect((await failure(client.call('DELETE', 'me', { password: PASSWORD }))).code).toBe('signed_out')
    expect(asked.filter((path) => path === 'me')).toHaveLength(1)
    accidents.length = 0
    accidents.push(async (answer) => {
      await open().signIn({ identifier: next.email, password: PASSWORD })
      return answer
    })
    expect((await failure(client.reload())).code).toBe('signed_out')
    expect(client.state.account?.email).toBe(next.email)
  })

  test('signs out here first, tells the service, and says whether it heard', async () => {
    const { client, tokens, accidents, open } = await signedIn()
    const { access_token } = tokens()!
    expect(await client.signOut()).toBe(true)
    expect([tokens(), client.state.status]).toEqual([null, 'signed_out'])
    expect((await service.get('me', { bearer: access_token as string })).body.code).toBe('invalid_token')
    expect(await open().signOut()).toBe(true)
    const away = await signedIn()
    away.accidents.push(() => {
      throw new TypeError('offline')
    })
    expect(await away.client.signOut()).toBe(false)
    expect([away.tokens(), accidents]).toEqual([null, []])
  })

  test('signs out everywhere, also with an access token that has expired', async () => {
    const { client, email, open, kept } = await signedIn()
    const elsewhere = world()
    const other = elsewhere.open()
    await other.signIn({ identifier: email, password: PASSWORD })
    accessTokenExpires()
    expect(await client.signOut({ everywhere: true })).toBe(true)
    expect((await failure(other.reload())).code).toBe('signed_out')
    expect([open().state.status, [...kept.keys()]]).toEqual(['signed_out', ['poterne.device']])
  })

  test('signs in with two factors, and by a code alone', async () => {
    const { client, email } = await signedIn()
    await client.signOut()
    await client.requestCode({ identifier: email })
    const byCode = await client.signInByCode({ identifier: email, otp: await service.inbox.nextCode(email) })
    expect(byCode.account?.email).toBe(email)
    const guarded = newEmail()
    await protectBySentCodes(service, guarded)
    const step = await client.signIn({ identifier: guarded, password: PASSWORD })
    expect(step.twoFactor).toMatchObject({ methods: expect.arrayContaining(['email']), identifier: guarded })
    const wrong = await failure(client.finish(step.twoFactor!, { otp: '000000' }))
    expect(wrong).toMatchObject({ status: 422, code: 'invalid_code' })
    await client.finish(step.twoFactor!, { otp: await service.inbox.nextCode(guarded) })
    expect((await client.reload()).two_factor_enabled).toBe(true)
  })

  test('changes and resets a password that is typed once', async () => {
    const { client, email } = await signedIn()
    const newer = 'another long password'
    await client.call('POST', 'password/change', { current_password: PASSWORD, password: newer })
    await client.forgotPassword({ identifier: email })
    const otp = await service.inbox.nextCode(email)
    await client.resetPassword({ identifier: email, otp, password: PASSWORD })
    expect((await client.signIn({ identifier: email, password: PASSWORD })).account?.email).toBe(email)
  })

  test('exports what the account has, by the refresh token in a header', async () => {
    const { client, email } = await signedIn()
    expect((await client.call('GET', 'me/export')).account.email).toBe(email)
  })

  test('turns failures into one error, in the language asked for, with the fields and the wait', async () => {
    const { open, accidents } = world()
    const auth = open({ language: 'en' })
    const refused = await failure(auth.register({ email: 'nobody', password: 'x' }))
    expect(refused).toBeInstanceOf(PoterneError)
    expect([refused.status, refused.code, refused.message]).toEqual([
      422,
      'validation_failed',
      'Some fields are not valid.',
    ])
    expect(refused.fields.map(({ field }) => field)).toContain('email')
    expect(refused.requestId).toMatch(/^[0-9a-f-]{36}$/)
    accidents.push(() =>
      Response.json({ status: 429, code: 'too_many_requests', retry_after: 37 }, { status: 429 }),
    )
    const limited = await failure(auth.signIn({ identifier: 'a@example.com', password: 'x' }))
    expect(limited).toMatchObject({ status: 429, retryAfterSeconds: 37 })
    const headers = { 'retry-after': '5' }
    accidents.push(() => new Response('<html></html>', { status: 503, headers }))
    const away = await failure(auth.signIn({ identifier: 'a@example.com', password: 'x' }))
    expect(away).toMatchObject({ status: 503, code: 'network', retryAfterSeconds: 5 })
    accidents.push(() => new Response('<html></html>', { status: 200 }))
    expect(await failure(auth.signIn({ identifier: 'a@example.com', password: 'x' }))).toMatchObject({
      status: 200,
      code: 'network',
    })
    expect(JSON.stringify([refused, limited])).not.toContain('"x"')
  })

  test('names the device by a random text that it keeps', async () => {
    const { client, kept, open } = await signedIn()
    const { device_fingerprint } = JSON.parse(kept.get('poterne.device')!)
    expect(device_fingerprint).toMatch(/^[0-9a-f]{32}$/)
    await client.signOut()
    await failure(open().signIn({ identifier: 'nobody@example.com', password: PASSWORD }))
    expect(JSON.parse(kept.get('poterne.device')!)).toEqual({ device_fingerprint })
    const names: string[] = []
    const first = world().open({
      fetch: async (address, init) => {
        names.push(JSON.parse(init.body as string).device_fingerprint)
        return fetch(address, init)
      },
    })
    const identifier = 'nobody@example.com'
    await Promise.all([first.forgotPassword({ identifier }), first.resendConfirmation({ identifier })])
    expect([names.length, new Set(names).size]).toEqual([2, 1])
  })
})

describe('the client at other services', () => {
  const requests: (string | null)[] = []
  let respond = (_: Request): Response => new Response('ok')
  const serve = () =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        requests.push(request.headers.get('authorization'))
        return respond(request)
      },
    })

  test('sends the token to the services that it knows, and to nothing that only looks like one', async () => {
    using api = serve()
    const { open, tokens } = await signedIn()
    const origin = `http://127.0.0.1:${api.port}`
    const auth = open({ services: [origin], fetch })
    requests.length = 0
    expect(await (await auth.fetch(`${origin}/orders`, { headers: new Headers({ a: 'b' }) })).text()).toBe(
      'ok',
    )
    expect(requests).toEqual([`Bearer ${tokens()!.access_token}`])
    for (const foreign of [
      origin,
      `${origin}.evil.example/`,
      `${origin}@evil.example/`,
      `${origin}0/`,
      'http://127.0.0.1/',
      '/orders',
      `${service.url}/api/v1/auth/me`,
    ])
      expect((await failure(auth.fetch(foreign))).code).toBe('not_a_service')
    expect(requests).toHaveLength(1)
  })

  test('refreshes once where a service refuses a token that is not fresh', async () => {
    using api = serve()
    const { open, kept, tokens, asked } = await signedIn()
    const origin = `http://127.0.0.1:${api.port}`
    const age = (seconds: number) =>
      kept.set('poterne', JSON.stringify({ ...tokens(), came: Date.now() - seconds * 1000 }))
    const auth = open({ services: [origin] })
    requests.length = 0
    respond = () => new Response('no', { status: 401 })
    expect((await auth.fetch(`${origin}/`)).status).toBe(401)
    expect(requests).toHaveLength(1)
    age(11)
    asked.length = 0
    expect((await auth.fetch(`${origin}/`, { method: 'POST', body: 'once more' })).status).toBe(401)
    expect([requests.length, asked.filter((path) => path === 'refresh').length]).toEqual([3, 1])
    async function* pieces() {
      yield 'a stream'
    }
    for (const body of [new Response('a stream').body!, pieces()]) {
      age(11)
      requests.length = 0
      await auth.fetch(`${origin}/`, { method: 'POST', body, duplex: 'half' } as RequestInit)
      expect(requests).toHaveLength(1)
    }
  })

  test('a redirect takes the token to no other origin', async () => {
    using api = serve()
    using other = serve()
    const { open } = await signedIn()
    const origin = `http://127.0.0.1:${api.port}`
    respond = ({ url }) =>
      url.endsWith('/away')
        ? Response.redirect(`http://127.0.0.1:${other.port}/there`)
        : new Response('there')
    requests.length = 0
    const auth = open({ services: [origin], fetch })
    expect(await (await auth.fetch(`${origin}/away`)).text()).toBe('there')
    expect([requests.length, requests.at(-1)]).toEqual([2, null])
  })
})

describe('the storage of the client', () => {
  test('one that answers later is loading until it has answered', async () => {
    const { kept, email } = await signedIn()
    const later = <T>(work: () => T) => new Promise<T>((resolve) => setTimeout(() => resolve(work()), 20))
    const storage: ClientStorage = {
      getItem: (name) => later(() => kept.get(name)),
      setItem: (name, value) => later(() => kept.set(name, value)),
      removeItem: (name) => later(() => kept.delete(name)),
    }
    const auth = createClient({ url: service.url, storage })
    expect(auth.state).toEqual({ status: 'loading', account: null })
    await new Promise<void>((resolve) => void auth.subscribe(resolve))
    expect(auth.state.account?.email).toBe(email)
    accessTokenExpires()
    await Promise.all(Array.from({ length: 20 }, () => auth.reload()))
    await auth.signOut()
    expect([...kept.keys()]).toEqual(['poterne.device'])
  })

  test('one that holds tokens and no account is loading until the account was read', async () => {
    const { kept, tokens, open, email } = await signedIn()
    const { account: _, ...rest } = tokens()!
    kept.set('poterne', JSON.stringify(rest))
    const auth = open()
    expect(auth.state.status).toBe('loading')
    await auth.reload()
    expect(auth.state.account?.email).toBe(email)
  })

  test.each(['getItem', 'setItem', 'removeItem'] as const)(
    'one whose %s throws leaves everything in memory',
    async (method) => {
      const { storage, email } = await signedIn()
      const problems: string[] = []
      const broken = {
        ...storage,
        [method]: (...values: string[]) => {
          throw new Error(`no space for ${values.join()}`)
        },
      }
      const auth = createClient({
        url: service.url,
        storage: broken,
        onProblem({ code, message }) {
          problems.push(code)
          expect(message).not.toMatch(/[0-9a-f]{32}|eyJ/)
        },
      })
      await auth.signIn({ identifier: email, password: PASSWORD })
      accessTokenExpires()
      expect((await auth.reload()).email).toBe(email)
      await auth.signOut()
      await auth.signIn({ identifier: email, password: PASSWORD })
      expect(auth.state.account?.email).toBe(email)
      expect(problems).toEqual(['storage_failed'])
    },
  )

  test('what somebody else wrote there is nobody signed in', async () => {
    for (const text of ['{', 'null', '[]', '7', '{"refresh_token":7}']) {
      const { open } = world(new Map([['poterne', text]]))
      expect(open().state.status).toBe('signed_out')
    }
  })

  test('one that forgets signs out, and nothing is asked', async () => {
    const { client, kept, asked } = await signedIn()
    kept.clear()
    expect((await failure(client.accessToken())).code).toBe('signed_out')
    expect([client.state.status, asked]).toEqual(['signed_out', []])
  })
})
