/**
 * The link in a notice by which a replaced contact comes back. Its token is derived from a seed that waits with the
 * notice, so that a reader of the database cannot use the link. A hash of the token finds the contact.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { ServerSecret } from '../../../platform/secret.ts'

const TOKEN_BYTES = 16

const UNDO_PATH = '/undo'

export type UndoLinks = ReturnType<typeof createUndoLinks>

export function createUndoLinks({ secret, baseUrl }: { secret: Pick<ServerSecret, 'tag'>; baseUrl: string }) {
  const tokenOf = (seed: string) =>
    secret.tag('undo link', seed).subarray(0, TOKEN_BYTES).toString('base64url')
  return {
    /** The seed goes into the values of the notice. */
    create(): { seed: string; hash: Uint8Array } {
      const seed = randomBytes(TOKEN_BYTES).toString('base64url')
      return { seed, hash: hashOfToken(tokenOf(seed)) }
    },
    linkTo: (seed: string): string => `${baseUrl.replace(/\/$/, '')}${UNDO_PATH}?t=${tokenOf(seed)}`,
  }
}

/** Hashes anything that somebody sent as a token. */
export const hashOfToken = (token: string): Uint8Array => createHash('sha256').update(token).digest()
