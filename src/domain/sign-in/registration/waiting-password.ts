/** The passwords of registrations that wait, and the tags by which two of them are told apart. */

import { randomBytes } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { normalizePassword } from '../../foundation/hashing/password.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Contacts } from './bodies.ts'

/** The password of a registration as it was hashed, for the browser that made it. */
export interface WaitingPassword {
  /** It is null for a registration without a password. */
  digest: string | null
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
}

export type PasswordTags = ReturnType<typeof createPasswordTags>

export function createPasswordTags({ secret }: Pick<Ground, 'secret'>) {
  /**
   * Two bytes of a keyed hash: enough to notice that two people used different passwords (one pair in 65,536 goes
   * unnoticed), and too little to search for a password with.
   */
  function passwordTag(contact: Identifier, password: string): Uint8Array {
    const form = normalizePassword(password)
    return secret.tag('waiting password', contact.key, form.ok ? form.password : '').subarray(0, 2)
  }

  /** A registration without a password counts as one with a password that nobody else has. */
  function waitingOf({ email, phone }: Contacts, digest: string | null, password?: string): WaitingPassword {
    const tagOf = (contact: Identifier | null) =>
      contact && (password === undefined ? randomBytes(2) : passwordTag(contact, password))
    return { digest, emailTag: tagOf(email), phoneTag: tagOf(phone) }
  }

  /** The tag of the password that a confirmation names, or that its browser registered. */
  function tagOf(identifier: Identifier, password: string | null, waiting: WaitingPassword | undefined) {
    if (waiting) return waitingFor(waiting, identifier)?.tag ?? null
    return password === null ? null : passwordTag(identifier, password)
  }

  return { passwordTag, waitingOf, tagOf }
}

/** The password that the browser chose when it registered this identifier. */
export function waitingFor({ digest, emailTag, phoneTag }: WaitingPassword, { kind }: Identifier) {
  const tag = kind === 'email' ? emailTag : phoneTag
  return digest === null || tag === null ? null : { digest, tag }
}
