/**
 * The code of an invitation that goes by mail. It is derived from a seed that waits with the message, so that a reader of
 * the database cannot use it; its hash finds the invitation, as that of any other.
 */
import { randomBytes } from 'node:crypto'
import { withParameters } from '../../../platform/http/redirect.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { groupLetters, lettersFrom } from '../../messages/codes/letters.ts'

const SEED_BYTES = 16

interface Options {
  secret: Pick<ServerSecret, 'tag'>
  /** The page that takes invitations; null: there is none, and none goes by mail. */
  invitationUrl: string | null
}

export function createMailedInvitations({ secret, invitationUrl }: Options) {
  const lettersOf = (seed: string) => lettersFrom(secret.tag('mailed invitation', seed))
  return {
    /** The seed goes into the values of the message. */
    create(): { seed: string; letters: string } {
      const seed = randomBytes(SEED_BYTES).toString('base64url')
      return { seed, letters: lettersOf(seed) }
    },
    linkTo: (seed: string): string | null =>
      invitationUrl && withParameters(invitationUrl, { invitation: groupLetters(lettersOf(seed)) }),
  }
}
