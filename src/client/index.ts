/** `@poterne/client`. */
export type * from './api.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export { type ClientCode, type FieldProblem, PoterneError } from './error.ts'
export type { PasskeyEngine, Proof } from './passkeys.ts'
export type { Destination, RedirectOptions } from './redirect.ts'
export type { State } from './session.ts'
export type { Step, TwoFactor } from './sign-in.ts'
export type { ClientStorage } from './storage.ts'
