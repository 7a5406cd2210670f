/** The code of an invitation: 16 letters, of which the hash is stored. */
import { createHash, randomBytes } from 'node:crypto'
import { withParameters } from '../../../platform/http/redirect.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { groupLetters, isLetterCode, lettersFrom, lettersOf } from '../../messages/codes/letters.ts'

const SEED_BYTES = 16

interface Options {
  secret: Pick<ServerSecret, 'tag'>
  /** The page that takes invitations; null: there is none, and none goes by mail. */
  invitationUrl: string | null
}

/**
 * The code of an invitation that goes by mail. It is derived from a seed that waits with the message, so that a reader of
 * the database cannot use it; its hash finds the invitation, as that of any other.
 */
export function createMailedInvitations({ secret, invitationUrl }: Options) {
  const lettersFor = (seed: string) => lettersFrom(secret.tag('mailed invitation', seed))
  return {
    /** The seed goes into the values of the message. */
    create(): { seed: string; letters: string } {
      const seed = randomBytes(SEED_BYTES).toString('base64url')
      return { seed, letters: lettersFor(seed) }
    },
    linkTo: (seed: string): string | null =>
      invitationUrl && withParameters(invitationUrl, { invitation: groupLetters(lettersFor(seed)) }),
  }
}

/** 80 random bits need neither salt nor a slow hash, and are found by it. */
export const hashOfInvitation = (letters: string): Buffer =>
  createHash('sha256').update('invitation ').update(letters).digest()

/** Reads what was typed, in any case and grouping. It is null where no invitation has that form. */
export const readInvitation = (typed: string): Buffer | null =>
  isLetterCode(typed) ? hashOfInvitation(lettersOf(typed)) : null
