/** The code of an invitation: 16 letters, of which the hash is stored. */
import { createHash } from 'node:crypto'
import { isLetterCode, lettersOf } from '../../messages/codes/letters.ts'

/** 80 random bits need neither salt nor a slow hash, and are found by it. */
export const hashOfInvitation = (letters: string): Buffer =>
  createHash('sha256').update('invitation ').update(letters).digest()

/** Reads what was typed, in any case and grouping. It is null where no invitation has that form. */
export const readInvitation = (typed: string): Buffer | null =>
  isLetterCode(typed) ? hashOfInvitation(lettersOf(typed)) : null
