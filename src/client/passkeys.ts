/** Passkeys: what the service says and what the browser answers go through as WebAuthn writes them in JSON. */
import { isProblem, PoterneError } from './error.ts'
import type { Answer } from './send.ts'

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

const engine = () => (globalThis as unknown as { PublicKeyCredential?: WebAuthn }).PublicKeyCredential

function webAuthn(): WebAuthn {
  const found = engine()
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
export async function tellAccepted(passkeys: Answer): Promise<void> {
  const { rp_id: rpId, user_id: userId, credential_ids: allAcceptedCredentialIds } = passkeys.signal as Answer
  if (userId !== null)
    await engine()
      ?.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds })
      .catch(() => {})
}

/** A passkey that was removed here is not offered again. */
export async function tellUnknown(error: unknown): Promise<void> {
  if (!isProblem(error, 'unknown_passkey')) return
  const { rp_id: rpId, credential_id: credentialId } = error.details.passkey as Answer
  await engine()
    ?.signalUnknownCredential?.({ rpId, credentialId })
    .catch(() => {})
}
