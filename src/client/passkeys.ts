/** Passkeys: what the service says and what the browser answers go through as WebAuthn writes them in JSON. */
import type { Passkey } from './api.ts'
import { isProblem, PoterneError } from './error.ts'
import { type Answer, API, type Send } from './send.ts'
import type { Kept, Session } from './session.ts'
import type { Step } from './sign-in.ts'

export interface Proof {
  password?: string
  otp?: string
}

/** Options and credentials as JSON: a native app hands over those of its platform. */
export interface PasskeyEngine {
  get(options: Answer, how: { mediation?: 'conditional'; signal?: AbortSignal }): Promise<unknown>
  create(options: Answer): Promise<unknown>
}

interface Signals {
  signalUnknownCredential?(which: object): Promise<void>
  signalAllAcceptedCredentials?(which: object): Promise<void>
}

interface Credential {
  toJSON(): unknown
}

interface WebAuthn extends Signals {
  parseRequestOptionsFromJSON(options: Answer): object
  parseCreationOptionsFromJSON(options: Answer): object
}

interface Credentials {
  get(options: object): Promise<unknown>
  create(options: object): Promise<unknown>
}

declare const navigator: { credentials: Credentials }

const webEngine = () => (globalThis as unknown as { PublicKeyCredential?: WebAuthn }).PublicKeyCredential

function webAuthn(): WebAuthn {
  const found = webEngine()
  if (!found?.parseRequestOptionsFromJSON) throw new PoterneError('unsupported')
  return found
}

const jsonOf = (credential: unknown) => (credential as Credential | null)?.toJSON()

/** The browser's own. What it throws passes through: a person who closed the dialogue is a NotAllowedError. */
export const browserPasskeys: PasskeyEngine = {
  async get(options, how) {
    const publicKey = webAuthn().parseRequestOptionsFromJSON(options)
    return jsonOf(await navigator.credentials.get({ ...how, publicKey }))
  },
  async create(options) {
    const publicKey = webAuthn().parseCreationOptionsFromJSON(options)
    return jsonOf(await navigator.credentials.create({ publicKey }))
  },
}

/** `signal` of `GET passkeys`: the browser hides those that are gone here. */
async function tellAccepted(passkeys: Answer): Promise<void> {
  const { rp_id: rpId, user_id: userId, credential_ids: allAcceptedCredentialIds } = passkeys.signal as Answer
  if (userId !== null)
    await webEngine()?.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds })
}

/** A passkey that was removed here is not offered again. */
async function tellUnknown(error: unknown): Promise<void> {
  if (!isProblem(error, 'unknown_passkey')) return
  const { rp_id: rpId, credential_id: credentialId } = error.details.passkey as Answer
  await webEngine()
    ?.signalUnknownCredential?.({ rpId, credentialId })
    .catch(() => {})
}

type InSession = (held: Kept | null, method: string, path: string, body?: Answer) => Promise<Answer>

/** Parameters by their places, since the names of a list would stand in what browsers load. */
export function createPasskeys(
  send: Send,
  session: Session,
  inSession: InSession,
  signIn: (path: string, body: Answer) => Promise<Step>,
  engine: PasskeyEngine,
) {
  async function signInWithPasskey(how: { conditional?: boolean; signal?: AbortSignal } = {}): Promise<Step> {
    const { options } = await send('POST', `${API}passkeys/login/options`, { body: {} })
    const credential = await engine.get(options as Answer, {
      ...(how.conditional && { mediation: 'conditional' as const }),
      ...(how.signal && { signal: how.signal }),
    })
    try {
      const step = await signIn('passkeys/login', { credential })
      await tellPasskeys()
      return step
    } catch (error) {
      await tellUnknown(error)
      throw error
    }
  }

  /** Only right after a sign-in and after a removal. It is a courtesy to the browser, and fails in silence. */
  async function tellPasskeys(): Promise<void> {
    try {
      await tellAccepted(await inSession(await session.fresh(), 'GET', 'passkeys'))
    } catch {
      // The browser goes on offering what it offered.
    }
  }

  async function addPasskey({
    name = null,
    ...proof
  }: Proof & { name?: string | null } = {}): Promise<Passkey> {
    const held = await session.required()
    const { options } = await inSession(held, 'POST', 'passkeys/registration/options', proof as Answer)
    const credential = await engine.create(options as Answer)
    return (await inSession(held, 'POST', 'passkeys/registration', { credential, name })).passkey as Passkey
  }

  async function removePasskey(id: string, proof: Proof = {}): Promise<void> {
    const path = `passkeys/${encodeURIComponent(id)}/remove`
    await inSession(await session.required(), 'POST', path, proof as Answer)
    await tellPasskeys()
  }

  return { signInWithPasskey, addPasskey, removePasskey }
}
