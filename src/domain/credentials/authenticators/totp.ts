/**
 * Codes of authenticator apps: RFC 6238 with the parameters that every app supports (SHA-1, 6 digits, 30 s). A secret is
 * shown once, to the person; everything else handles it sealed. The store knows which steps were used before.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { HOTP, Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'
import type { ServerSecret } from '../../../platform/secret.ts'
import { decoyTotpSecret } from '../../foundation/decoys/decoys.ts'
import { digitsOf } from '../../messages/codes/digits.ts'

const ALGORITHM = 'SHA1'
const DIGITS = 6
const PERIOD_SECONDS = 30
/** RFC 4226, 4: 160 bits are recommended. */
const SECRET_BYTES = 20
const DRIFT_STEPS = 1

export function createTotp({ secret, issuer }: { secret: ServerSecret; issuer: string }) {
  const decoyKey = secretOf(decoyTotpSecret(SECRET_BYTES))
  const decoySecret = secret.seal('totp', decoyKey.base32)

  /** Null if it was sealed under another server secret, or is damaged. */
  function open(sealedSecret: Uint8Array): Secret | null {
    try {
      return Secret.fromBase32(secret.open('totp', sealedSecret))
    } catch {
      return null
    }
  }

  return {
    /**
     * `label` tells the person which account of the service it is for. `secret` is in Base32 (RFC 4648, without padding),
     * for typing in; `uri` is `otpauth://totp/…`, for a QR code. `known`: the secret of an app that is there already.
     */
    create(label: string, known?: string) {
      const key = known === undefined ? randomSecret() : Secret.fromBase32(known)
      const parameters = { algorithm: ALGORITHM, digits: DIGITS, period: PERIOD_SECONDS }
      const uri = new TOTP({ ...parameters, issuer: withoutColons(issuer), label, secret: key }).toString()
      return { sealedSecret: secret.seal('totp', key.base32), secret: key.base32, uri }
    },
    /** False if the secret was sealed under another server secret, or is damaged. */
    opens: (sealedSecret: Uint8Array): boolean => open(sealedSecret) !== null,
    /**
     * The newest time step whose code was typed, of the current one and its two neighbours (RFC 6238, 5.2), or null. It
     * returns null after the same work if there is no secret, or if it cannot be decrypted.
     */
    match(sealedSecret: Uint8Array | null, typed: string, now: Date): number | null {
      const opened = open(sealedSecret ?? decoySecret)
      const key = opened ?? decoyKey
      const guess = Buffer.from(digitsOf(typed) ?? '------')
      const present = Math.floor(now.getTime() / 1000 / PERIOD_SECONDS)
      let matched: number | null = null
      for (let step = present - DRIFT_STEPS; step <= present + DRIFT_STEPS; step++) {
        const code = HOTP.generate({ secret: key, algorithm: ALGORITHM, digits: DIGITS, counter: step })
        if (timingSafeEqual(Buffer.from(code), guess)) matched = step
      }
      return sealedSecret === null || opened === null ? null : matched
    },
  }
}

/** The URI of an app as a QR code, in SVG. ISO/IEC 18004 asks for four modules of quiet around it. */
export const pictureOf = (uri: string): string => renderSVG(uri, { border: 4 })

/** A colon ends the issuer within the label of an address, and apps refuse one that holds another. */
const withoutColons = (text: string) => text.replace(/:+/g, ' ').replace(/\s+/g, ' ').trim()

const secretOf = (bytes: Uint8Array<ArrayBuffer>) => new Secret({ buffer: bytes.buffer })
const randomSecret = () => secretOf(new Uint8Array(randomBytes(SECRET_BYTES)))
