/**
 * The access token of a request. `.use(bearer)` in a routes file gives `signedIn` to every route after it; a route before
 * it is open to everybody. The token is checked before the body. Each of these routes declares `detail: { security:
 * bearerSecurity }`, which also documents the two errors for a refused token.
 */
import { Elysia } from 'elysia'

/** documentation.ts declares the scheme of this name. */
export const bearerSecurity = [{ accessToken: [] }]

export type Bearer<Identity> = ReturnType<typeof createBearer<Identity>>

/** `authenticate` gets the Authorization header and throws if the request may not pass. */
export function createBearer<Identity>(
  authenticate: (authorization: string | undefined) => Promise<Identity>,
) {
  return new Elysia({ name: 'bearer' }).derive({ as: 'scoped' }, async ({ headers }) => ({
    signedIn: await authenticate(headers.authorization),
  }))
}
