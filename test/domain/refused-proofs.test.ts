/**
 * A call that is refused with 404 or 409 leaves its recovery code good. Every operation that takes the owner's proof is
 * tried with every such refusal that docs/openapi.json lists for it.
 */
import { expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { createPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'

const ORIGIN = 'https://app.example.com'

const { provider, service } = useSocial({
  accounts: { reveal_existing: true, password: 'optional' },
  passkeys: { rp_id: 'example.com', origins: [ORIGIN] },
})
const browser = createSocialBrowser(service)

type Body = Record<string, unknown>

/** Somebody with two factors; `proof` replaces the second factor of today, the recovery code. */
interface Owner {
  bearer: string
  proof: Body
  recoveryCodes: string[]
}

/** `prepare` runs before the account has two factors, when the password alone proves its owner. */
async function withPassword(
  identifier = newEmail(),
  prepare = async (_bearer: string) => {},
): Promise<Owner> {
  const { bearer } = await service.signedIn(identifier)
  await prepare(bearer)
  return withApp({ access_token: bearer }, { password: PASSWORD })
}

/** Adds an app to the account of the session, and with it two-factor sign-in. */
async function withApp(
  { access_token, refresh_token }: Body,
  proof: Body = { refresh_token },
): Promise<Owner> {
  const bearer = String(access_token)
  const { body } = await service.post('2fa/totp', proof, { bearer })
  const otp = appCode(body.secret, service.clock.now())
  const { recovery_codes } = (await service.post('2fa/totp/confirm', { otp }, { bearer })).body
  return { bearer, recoveryCodes: recovery_codes, proof: { ...proof, otp: recovery_codes[0] } }
}

async function fromProvider(): Promise<Owner> {
  provider.present(newPerson())
  return withApp((await browser.signIn()).body)
}

/** Somebody without a password, who comes in by a code to their address. */
async function entered() {
  const identifier = newEmail()
  await service.post('2fa/request-otp', { identifier, create: true })
  const otp = await service.inbox.nextCode(identifier)
  const { body } = await service.post('2fa/verify', { identifier, otp, create: true })
  return { identifier, bearer: body.access_token as string, proof: { refresh_token: body.refresh_token } }
}

async function addPasskey(bearer: string, proof: Body): Promise<string> {
  const { options } = (await service.post('passkeys/registration/options', proof, { bearer })).body
  const { credential } = createPasskey(options, ORIGIN)
  return (await service.post('passkeys/registration', { credential }, { bearer })).body.passkey.id
}

async function newIdentity() {
  const person = newPerson()
  provider.present(person)
  return { person, code: await browser.obtainCode() }
}

async function addIdentity(bearer: string) {
  const { person, code } = await newIdentity()
  const answer = await service.post('identities/p1', { ...code, password: PASSWORD }, { bearer })
  expect(answer.status).toBe(201)
  return person
}

/** The owner who meets the refusal, the path as it is called, and the body beside the proof. */
type Case = () => Promise<{ owner: Owner; path?: string; body?: Body }>

const cases: Record<string, Case> = {
  'POST email/change identifier_taken': async () => ({
    owner: await withPassword(),
    body: { email: (await service.signUp(newEmail())).identifier },
  }),
  'POST phone/change identifier_taken': async () => ({
    owner: await withPassword(),
    body: { phone: (await service.signUp(newPhone())).identifier },
  }),
  'DELETE email contact_not_found': async () => ({ owner: await withPassword(newPhone()) }),
  'DELETE phone contact_not_found': async () => ({ owner: await withPassword() }),
  'DELETE email last_sign_in_method': async () => ({ owner: await withPassword() }),
  'DELETE phone last_sign_in_method': async () => ({ owner: await withPassword(newPhone()) }),
  'POST 2fa/enable two_factor_already_enabled': async () => ({ owner: await withPassword() }),
  'POST passkeys/registration/options passkey_limit': async () => ({
    owner: await withPassword(newEmail(), async (bearer) => {
      for (let count = 0; count < 10; count++) await addPasskey(bearer, { password: PASSWORD })
    }),
  }),
  'DELETE passkeys/{id} passkey_not_found': async () => ({
    owner: await withPassword(),
    path: `passkeys/${crypto.randomUUID()}`,
  }),
  'DELETE passkeys/{id} last_sign_in_method': async () => {
    const { bearer, proof, recoveryCodes } = await fromProvider()
    const [otp, another, ...left] = recoveryCodes
    const id = await addPasskey(bearer, { ...proof, otp })
    await service.call('DELETE', '/api/v1/auth/identities/p1', { ...proof, otp: another }, { bearer })
    return {
      owner: { bearer, recoveryCodes: left, proof: { ...proof, otp: left[0] } },
      path: `passkeys/${id}`,
    }
  },
  'DELETE passkeys/{id} no_other_factor': async () => {
    const { bearer, proof } = await entered()
    const id = await addPasskey(bearer, proof)
    const { body } = await service.post('2fa/enable', { ...proof, method: 'passkey' }, { bearer })
    const recoveryCodes: string[] = body.recovery_codes
    return {
      owner: { bearer, recoveryCodes, proof: { ...proof, otp: recoveryCodes[0] } },
      path: `passkeys/${id}`,
    }
  },
  'POST identities/{provider} provider_not_found': async () => ({
    owner: await withPassword(),
    path: 'identities/none',
    body: (await newIdentity()).code,
  }),
  'POST identities/{provider} identity_taken': async () => {
    const { bearer } = await service.signedIn()
    provider.present(await addIdentity(bearer))
    return { owner: await withPassword(), path: 'identities/p1', body: await browser.obtainCode() }
  },
  'POST identities/{provider} identity_limit': async () => ({
    owner: await withPassword(newEmail(), async (bearer) => {
      for (let count = 0; count < 10; count++) await addIdentity(bearer)
    }),
    path: 'identities/p1',
    body: (await newIdentity()).code,
  }),
  'DELETE identities/{provider} identity_not_found': async () => ({
    owner: await withPassword(),
    path: 'identities/p1',
  }),
  'DELETE identities/{provider} last_sign_in_method': async () => ({
    owner: await fromProvider(),
    path: 'identities/p1',
  }),
}

/** Accounts that meet these have one factor, and no recovery code. */
const withoutTwoFactors = new Set([
  'POST 2fa/enable passkey_not_found',
  'POST 2fa/enable no_other_factor',
  'POST 2fa/enable no_verified_contact',
  'POST 2fa/enable/confirm no_other_factor',
  'POST 2fa/enable/confirm two_factor_already_enabled',
  'POST 2fa/enable/confirm no_verified_contact',
  'POST 2fa/disable two_factor_not_enabled',
  'POST 2fa/recovery-codes two_factor_not_enabled',
])

/** The rest of a call that is refused for a password that the account does not have. */
const complete: Record<string, { path?: string; body?: () => Promise<Body> | Body }> = {
  'POST email/change': { body: () => ({ email: newEmail() }) },
  'POST phone/change': { body: () => ({ phone: newPhone() }) },
  'POST password/change': {
    body: () => ({
      current_password: PASSWORD,
      password: 'another horse battery',
      password_confirmation: 'another horse battery',
    }),
  },
  'DELETE passkeys/{id}': { path: `passkeys/${crypto.randomUUID()}` },
  'POST identities/{provider}': { path: 'identities/p1', body: async () => (await newIdentity()).code },
  'DELETE identities/{provider}': { path: 'identities/p1' },
}

const REFUSALS = ['404', '409']

/** `METHOD path code` of each refusal with 404 or 409 of an operation that takes the owner's proof. */
async function refusalsOfOwners(): Promise<string[]> {
  const { paths, components } = await Bun.file(`${import.meta.dir}/../../docs/openapi.json`).json()
  // `POST …/remove` is the operation of DELETE.
  const own = Object.entries<Record<string, Body>>(paths).filter(([path]) => !path.endsWith('/remove'))
  return own.flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody, responses }]) => {
      if (!/"otp"|OwnerProof/.test(JSON.stringify(requestBody ?? null))) return []
      const name = `${method.toUpperCase()} ${path.replace('/api/v1/auth/', '')}`
      return Object.entries(responses as Record<string, { $ref: string }>)
        .filter(([status]) => REFUSALS.includes(status))
        .flatMap(([, { $ref }]) => {
          const answer = components.responses[$ref.split('/').at(-1)!]
          const { code } = answer.content['application/json'].schema.allOf[1].properties
          return (code.enum as string[]).map((one) => `${name} ${one}`)
        })
    }),
  )
}

async function expectCostless(owner: Owner, name: string, path: string, body: Body): Promise<void> {
  const [method = '', , code = ''] = name.split(' ')
  const answer = await service.call(method, `/api/v1/auth/${path}`, body, { bearer: owner.bearer })
  expect([name, answer.body.code]).toEqual([name, code])
  const { two_factor } = (await service.get('me/security', { bearer: owner.bearer })).body
  expect([name, two_factor.recovery_codes_left]).toEqual([name, owner.recoveryCodes.length])
}

test('every refusal of the interface description is tried', async () => {
  const refusals = (await refusalsOfOwners()).filter((name) => !name.endsWith(' password_not_set'))
  expect(refusals.length).toBeGreaterThan(20)
  expect([...Object.keys(cases), ...withoutTwoFactors].toSorted()).toEqual(refusals.toSorted())
})

test.each(Object.keys(cases))('%s costs no recovery code', async (name) => {
  const { owner, path = name.split(' ')[1]!, body = {} } = await cases[name]!()
  await expectCostless(owner, name, path, { ...body, ...owner.proof })
})

test('the last second factor of an account without a password stays, whoever removes it', async () => {
  const { identifier, bearer, proof } = await entered()
  const [first, second] = [await addPasskey(bearer, proof), await addPasskey(bearer, proof)]
  const { body } = await service.post('2fa/enable', { ...proof, method: 'passkey' }, { bearer })
  const operator = (method: string, path: string) => asOperator(service, method, path)
  const found = await operator('GET', `accounts?query=${encodeURIComponent(identifier)}`)
  const path = `accounts/${found.body.items[0].uuid}/passkeys`
  expect((await operator('DELETE', `${path}/${first}`)).status).toBe(200)
  const refused = await operator('DELETE', `${path}/${second}`)
  expectRefusal(refused, 'no_other_factor')
  expect(refused.body.message).toMatch(/access-code.*remove_factors/)
  expect((await operator('GET', path)).body.items).toHaveLength(1)
  // With an app beside it, it may go.
  const own = { ...proof, otp: body.recovery_codes[0] }
  const { secret } = (await service.post('2fa/totp', own, { bearer })).body
  const otp = appCode(secret, service.clock.now())
  expect((await service.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
  expect((await operator('DELETE', `${path}/${second}`)).status).toBe(200)
})

test('of 32 removals of two passkeys by administrators, one stays as the second factor', async () => {
  const { identifier, bearer, proof } = await entered()
  const ids = [await addPasskey(bearer, proof), await addPasskey(bearer, proof)]
  await service.post('2fa/enable', { ...proof, method: 'passkey' }, { bearer })
  const found = await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(identifier)}`)
  const path = `accounts/${found.body.items[0].uuid}/passkeys`
  const answers = await race([service], (on, caller) =>
    asOperator(on, 'DELETE', `${path}/${ids[caller % 2]}`),
  )
  onlySuccess(answers, 'no_other_factor', 'passkey_not_found')
  expect((await asOperator(service, 'GET', path)).body.items).toHaveLength(1)
})

test('of 32 removals of a passkey and an identity by administrators, one stays as the last way in', async () => {
  const { bearer, proof } = await fromProvider()
  const id = await addPasskey(bearer, proof)
  const path = `accounts/${(await service.get('me', { bearer })).body.account.uuid}`
  const [identity] = (await asOperator(service, 'GET', `${path}/identities`)).body.items
  const ways = [`${path}/passkeys/${id}`, `${path}/identities/${identity.id}`]
  const answers = await race([service], (on, caller) => asOperator(on, 'DELETE', ways[caller % 2]!))
  onlySuccess(answers, 'last_sign_in_method', 'passkey_not_found', 'identity_not_found')
  const refused = answers.find(({ body }) => body.code === 'last_sign_in_method')
  expect(refused?.body.message).toMatch(/access-code.*remove_factors/)
  const left = await Promise.all(
    ['passkeys', 'identities'].map((ways) => asOperator(service, 'GET', `${path}/${ways}`)),
  )
  expect(left.flatMap(({ body }) => body.items)).toHaveLength(1)
})

test('a password that the account does not have costs no recovery code, in any operation', async () => {
  const owner = await fromProvider()
  const proof = { password: PASSWORD, otp: owner.proof.otp }
  const names = (await refusalsOfOwners()).filter((name) => name.endsWith(' password_not_set'))
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) {
    const [method, described = ''] = name.split(' ')
    const { path = described, body = () => ({}) } = complete[`${method} ${described}`] ?? {}
    await expectCostless(owner, name, path, { ...proof, ...(await body()) })
  }
})
