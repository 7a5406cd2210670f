/**
 * The access token of a request. `.use(bearer)` in a routes file gives `signedIn` to every route after it; a route before
 * it is open to everybody. The token is checked before the body. Each of these routes declares `detail: { security:
 * bearerSecurity }`, which also documents the two errors for a refused token, and that of accounts for tests.
 */
import { Elysia } from 'elysia'

/** documentation.ts declares the scheme of this name. */
export const bearerSecurity = [{ accessToken: [] }]

export type Bearer<Identity> = ReturnType<typeof createBearer<Identity>>

/**
 * `authenticate` gets the Authorization header and throws if the request may not pass; `admit` throws if nobody who signed
 * in like this may call an operation, such as `POST /api/v1/auth/2fa/enable`.
 */
export function createBearer<Identity>(
  authenticate: (authorization: string | undefined) => Promise<Identity>,
  admit: (signedIn: Identity, operation: string) => void = () => {},
) {
  return new Elysia({ name: 'bearer' }).derive({ as: 'scoped' }, async ({ headers, request, route }) => {
    const signedIn = await authenticate(headers.authorization)
    admit(signedIn, `${request.method} ${route}`)
    return { signedIn }
  })
}
