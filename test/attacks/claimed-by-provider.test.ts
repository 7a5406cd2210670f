/** A stranger's account that claims an address, when the person whose address it is signs in through a provider. */
import { afterAll, describe, expect, test } from 'bun:test'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { race } from '../helpers/race.ts'
import { mergeSettings, type Settings } from '../helpers/service.ts'
import { socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'

const ORIGIN = 'https://app.example.com'

let providers: PretendProvider[] = []
afterAll(() => Promise.all(providers.map((provider) => provider.stop())))

/** `p1` answers for no address, `p2` for every one. */
function settingsOf([first, second]: PretendProvider[]): Settings {
  const settings = socialSettings(first!.issuer, second!.issuer)
  const [weak, strong] = settings.social!.providers as object[]
  const social = { providers: [{ ...weak, authoritative_for: [] }, strong] }
  return mergeSettings(settings, { social, passkeys: { rp_id: 'example.com', origins: [ORIGIN] } })
}

describe('with limits on', () => {
  const service = use(async () => {
    if (providers.length === 0)
      providers = await Promise.all([startPretendProvider(), startPretendProvider()])
    const started = await startLimited({ settings: settingsOf(providers) })
    for (const provider of providers) provider.keepTime(started.clock)
    return started
  })

  async function signIn(which: 0 | 1, person: ReturnType<typeof newPerson>) {
    const provider = providers[which]!
    provider.present(person)
    const nonce = crypto.randomUUID()
    const id_token = await provider.idToken(nonce)
    const { body } = await service.post(`social/p${which + 1}/token`, { id_token, nonce }, newClient())
    return { ...body, bearer: body.access_token } as {
      bearer: string
      refresh_token: string
      account: { uuid: string; email: string }
    }
  }

  /** A confirmed account with nothing verified and no identity: the address is a claim, and a passkey opens it. */
  async function claim(email: string) {
    const stranger = await signIn(0, newPerson({ email, email_verified: true }))
    const { bearer, refresh_token } = stranger
    const as = { ...newClient(), bearer }
    const { options } = (await service.post('passkeys/registration/options', { refresh_token }, as)).body
    const { passkey, credential } = createPasskey(options, ORIGIN)
    expect((await service.post('passkeys/registration', { credential }, as)).status).toBe(201)
    const unlinked = await service.call('DELETE', '/api/v1/auth/identities/p1', { refresh_token }, as)
    expect(unlinked.body.identities).toEqual([])
    return { ...stranger, passkey }
  }

  test('is not given to them: it loses the claim and stays what it was', async () => {
    const email = newEmail()
    const stranger = await claim(email)
    const person = newPerson({ email, email_verified: true })
    const owner = await signIn(1, person)
    expect(owner.account.email).toBe(email)
    expect(owner.account.uuid).not.toBe(stranger.account.uuid)
    const theirs = await service.get('me', { ...newClient(), bearer: stranger.bearer })
    expect(theirs.body.account).toMatchObject({ uuid: stranger.account.uuid, email: null })
    const { options } = (await service.post('passkeys/login/options', {}, newClient())).body
    const credential = signWithPasskey(stranger.passkey, options, ORIGIN)
    const login = await service.post('passkeys/login', { credential }, newClient())
    expect(login.body.account.uuid).toBe(stranger.account.uuid)
    expect((await signIn(1, person)).account.uuid).toBe(owner.account.uuid)
  })

  test('a registration that nobody confirmed is taken over, by one of 32 callers', async () => {
    const email = newEmail()
    await claim(email)
    await service.post('register', registration(email, 'chosen by the stranger'), newClient())
    const person = newPerson({ email, email_verified: true })
    const provider = providers[1]!
    provider.present(person)
    const tokens = await Promise.all(
      Array.from({ length: 32 }, async (_, caller) => ({
        id_token: await provider.idToken(`${caller}`),
        nonce: `${caller}`,
      })),
    )
    const answers = await race([service], (at, caller) =>
      at.post('social/p2/token', tokens[caller]!, newClient()),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map(({ body }) => body.account.uuid)).size).toBe(1)
    for (const password of [PASSWORD, 'chosen by the stranger']) {
      const login = await service.post('login', { identifier: email, password }, newClient())
      expect(login.status).toBe(401)
    }
  })
})
