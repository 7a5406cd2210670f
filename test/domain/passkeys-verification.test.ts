/** The checks of passkeys and of signatures by them; every deviation by itself is refused. */
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import {
  challengeOf,
  verifyAssertion,
  verifyRegistration,
} from '../../src/domain/sign-in/passkeys/verification.ts'
import type { AssertionBody, Attestation } from '../../src/platform/http/passkey-schemas.ts'
import {
  type AuthenticatorQuirks,
  createPasskey,
  type SoftPasskey,
  signWithPasskey,
} from '../helpers/passkey-authenticator.ts'

const origin = 'https://app.example.com'
const android = 'android:apk-key-hash:sYUC8p5I9SxqFernBPHmDxz_YVZXmVJdW8s-m3RTTqE'
const relyingParty = { id: 'example.com', origins: [origin, 'https://example.com', android] }
const userHandle = randomBytes(32)

const creation = () => ({
  challenge: randomBytes(72).toString('base64url'),
  rp: { id: 'example.com' },
  user: { id: userHandle.toString('base64url') },
})

async function register(quirks: Parameters<typeof createPasskey>[2] = {}) {
  const options = creation()
  const { passkey, credential } = createPasskey(options, origin, quirks)
  const challenge = Buffer.from(options.challenge, 'base64url')
  const made = await verifyRegistration(credential as Attestation, challenge, relyingParty)
  return { passkey, made }
}

async function assert(passkey: SoftPasskey, publicKey: Uint8Array, quirks: AuthenticatorQuirks = {}) {
  const options = { challenge: randomBytes(72).toString('base64url'), rpId: 'example.com' }
  const credential = signWithPasskey(passkey, options, origin, quirks) as AssertionBody
  return verifyAssertion(credential, Buffer.from(options.challenge, 'base64url'), relyingParty, {
    credentialId: passkey.id,
    publicKey,
    userHandle,
    backupEligible: true,
  })
}

describe('a registration', () => {
  test('gives the credential with its key, its counter and its backup state', async () => {
    const { passkey, made } = await register({ counter: 7, aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d' })
    expect(made).toMatchObject({
      credentialId: passkey.id,
      counter: 7,
      backupEligible: true,
      backedUp: true,
      transports: ['internal', 'hybrid'],
      aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d',
    })
  })

  test.each<[string, Parameters<typeof createPasskey>[2]]>([
    ['another origin', { origin: 'https://evil.example.net' }],
    ['an origin that only begins like ours', { origin: 'https://app.example.com.evil.net' }],
    ['another port', { origin: 'https://app.example.com:8443' }],
    ['plain HTTP', { origin: 'http://app.example.com' }],
    ['another relying party', { rpId: 'example.net' }],
    ['a frame of another site', { crossOrigin: true }],
    ['a frame that names its top', { topOrigin: 'https://evil.example.net' }],
    ['another challenge', { challenge: randomBytes(72).toString('base64url') }],
    ['an assertion instead', { type: 'webauthn.get' }],
    ['a person who was not verified', { userVerified: false }],
    ['nobody who was present', { userPresent: false }],
    ['a backup of what cannot be backed up', { backupEligible: false, backedUp: true }],
    ['a credential id that is too long', { idBytes: 1024 }],
  ])('with %s is refused', async (_, quirks) => {
    expect((await register(quirks)).made).toBeNull()
  })

  test('of a device-bound key, of an Android app, and with the longest id is accepted', async () => {
    expect((await register({ backupEligible: false, backedUp: false })).made).toMatchObject({
      backupEligible: false,
    })
    expect((await register({ origin: android })).made).not.toBeNull()
    expect((await register({ idBytes: 1023 })).made).not.toBeNull()
  })
})

describe('a signature', () => {
  test('by the key is accepted, with its counter and its backup state', async () => {
    const { passkey, made } = await register()
    expect(await assert(passkey, made!.publicKey, { counter: 9, backedUp: false })).toEqual({
      counter: 9,
      backedUp: false,
    })
  })

  test.each<[string, AuthenticatorQuirks]>([
    ['another origin', { origin: 'https://evil.example.net' }],
    ['another relying party', { rpId: 'example.net' }],
    ['a frame of another site', { crossOrigin: true }],
    ['another challenge', { challenge: randomBytes(72).toString('base64url') }],
    ['a registration instead', { type: 'webauthn.create' }],
    ['a person who was not verified', { userVerified: false }],
    ['client data that were changed', { tamper: true }],
    ['a key that became device-bound', { backupEligible: false, backedUp: false }],
    ['no user handle', { userHandle: null }],
    ["somebody else's user handle", { userHandle: randomBytes(32).toString('base64url') }],
  ])('with %s is refused', async (_, quirks) => {
    const { passkey, made } = await register()
    expect(await assert(passkey, made!.publicKey, quirks)).toBeNull()
  })

  test('by another key is refused', async () => {
    const [one, other] = await Promise.all([register(), register()])
    expect(await assert({ ...other.passkey, id: one.passkey.id }, one.made!.publicKey)).toBeNull()
  })
})

test.each([
  ['nothing', ''],
  ['no base64', '%%%'],
  ['no JSON', Buffer.from('{').toString('base64url')],
  ['a list', Buffer.from('[1]').toString('base64url')],
  ['a challenge that is no text', Buffer.from('{"challenge": 1}').toString('base64url')],
])('client data that hold %s have no challenge', (_, clientDataJSON) => {
  expect(challengeOf({ response: { clientDataJSON } })).toBeNull()
})
