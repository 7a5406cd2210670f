/** `@poterne/client`. */
export type * from './api.ts'
export {
  type Client,
  type ClientOptions,
  createClient,
  type Proof,
  type Step,
  type TwoFactor,
} from './client.ts'
export { type ClientCode, type FieldProblem, PoterneError } from './error.ts'
export type { PasskeyEngine } from './passkeys.ts'
export type { Destination, RedirectOptions } from './redirect.ts'
export type { State } from './session.ts'
export type { ClientStorage } from './storage.ts'
