/** `@poterne/client/server`. */
export { type Cookies, cookieStorage } from './cookie-storage.ts'
export { createVerifier, type Verified, type Verifier, type VerifierOptions } from './verifier.ts'
