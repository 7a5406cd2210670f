/** The credential that a browser wrote into a form after it used a passkey. */
import { Value } from '@sinclair/typebox/value'
import {
  type AssertionBody,
  type Attestation,
  assertionField,
  attestationField,
} from '../../platform/http/passkey-schemas.ts'
import { AppError } from '../../texts/errors.ts'

/** Refuses a value that no browser writes. */
export function readAssertion(text: string | undefined): AssertionBody {
  const credential = parse(text)
  if (!Value.Check(assertionField, credential))
    throw new AppError('invalid_passkey', { cause: 'no_assertion' })
  return credential
}

/** Reads the answer of a new passkey. */
export function readAttestation(text: string | undefined): Attestation {
  const credential = parse(text)
  if (!Value.Check(attestationField, credential))
    throw new AppError('invalid_passkey', { cause: 'no_attestation' })
  return credential
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return null
  }
}
