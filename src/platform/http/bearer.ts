/**
 * The access token of a request: `.use(bearer)` in a routes file gives every route after it `signedIn`; one that
 * stands before it is open to all. Checked before the body is. Each of these routes says `detail: { security:
 * bearerSecurity }`, which also documents the two ways a token is refused.
 */
import { Elysia } from 'elysia'

/** The scheme's name is documentation.ts's. */
export const bearerSecurity = [{ accessToken: [] }]

export type Bearer<Identity> = ReturnType<typeof createBearer<Identity>>

/** `authenticate` gets the Authorization header and throws for whoever may not pass. */
export function createBearer<Identity>(
  authenticate: (authorization: string | undefined) => Promise<Identity>,
) {
  return new Elysia({ name: 'bearer' }).derive({ as: 'scoped' }, async ({ headers }) => ({
    signedIn: await authenticate(headers.authorization),
  }))
}
