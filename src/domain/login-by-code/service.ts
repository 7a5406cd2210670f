/**
 * Login by one-time code. An account with two factors needs its password too, in the call or in a login of the last
 * ten minutes from the same client; which of the two was wrong shows neither in the answer nor in the work.
 */

import { AppError } from '../../errors.ts'
import type { Account } from '../accounts/account.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { Services, Stores } from '../services.ts'
import type { Authenticated } from '../sessions/authentication.ts'
import type { LogInAnswer } from '../sessions/session-opener.ts'
import type { Device } from '../sessions/store.ts'
import type { FirstFactor, FirstFactorProof, ProvingClient } from '../sign-in/first-factor-proof.ts'
import { findNamedAccount } from '../sign-in/named-account.ts'

export interface VerifyBody {
  identifier: string
  otp: string
  password?: string | null | undefined
  /** Of the login that proved the first factor. */
  login_token?: string | null | undefined
}

export interface LoginByCodeService {
  /** Says nothing about the identifier. Throws `too_many_requests`, `country_not_allowed`. */
  requestCode(
    body: { identifier?: string | null | undefined },
    client: { addressBucket: string },
  ): Promise<void>
  /**
   * For somebody signed in: a code that confirms a change of the account. Throws `two_factor_not_enabled`,
   * `too_many_requests`, `country_not_allowed`.
   */
  requestStepUpCode(signedIn: Authenticated): Promise<void>
  /** Throws `invalid_code`, `too_many_attempts`, `too_many_requests`, `account_locked`, `server_busy`. */
  verify(
    body: VerifyBody,
    device: Device,
    client: { address: string; addressBucket: string },
  ): Promise<LogInAnswer>
}

type Needs = Pick<
  Services,
  'sessionOpener' | 'passwordCheck' | 'firstFactorProofs' | 'secondFactor' | 'limits' | 'events' | 'config'
> & { stores: Pick<Stores, 'accounts'> }

export function createLoginByCodeService(needs: Needs): LoginByCodeService {
  const { sessionOpener, passwordCheck, firstFactorProofs, secondFactor, limits, events, config } = needs
  const { accounts } = needs.stores
  const { defaultCountry } = config.accounts

  const mayUseCode = (account: Account) => account.twoFactorEnabled || config.codes.login

  /** What the first factor says of this call; `newDigest` as the password check gives it. */
  async function checkFirstFactor(
    account: Account | null,
    identifier: Identifier,
    { password, login_token }: VerifyBody,
    client: ProvingClient,
  ): Promise<FirstFactorResult> {
    const token = typeof login_token === 'string' ? login_token : null
    if (token === null && typeof password === 'string') {
      const { right, newDigest } = await passwordCheck.judge({
        account,
        identifierKey: identifier.key,
        fingerprint: client.fingerprint,
        password,
        charges: [],
      })
      return { passes: right, first: right ? 'pwd' : null, proof: null, newDigest }
    }
    const claimed = account ?? { uuid: identifier.key, passwordDigest: null }
    const proof = await firstFactorProofs.find(claimed, client, token)
    if (token === null && !account?.twoFactorEnabled) return { passes: true, ...noFirstFactor }
    return { passes: proof !== null, first: proof?.factor ?? null, proof, newDigest: null }
  }

  /** Throws it again. */
  function noteFailure(account: Account | null, error: unknown): never {
    if (error instanceof AppError)
      events.add(account?.twoFactorEnabled ? 'two_factor.failed' : 'login.failed', account)
    throw error
  }

  return {
    async requestCode({ identifier: typed }, { addressBucket }) {
      if (typeof typed !== 'string') {
        throw new AppError('validation_failed', { fields: [{ field: 'identifier', code: 'required' }] })
      }
      const { identifier, account } = await findNamedAccount(accounts, typed, defaultCountry)
      await limits.charge(limits.codeCharges(identifier, 'login_code', addressBucket))
      await secondFactor.sendCode(
        await secondFactor.find(account && mayUseCode(account) ? account : null),
        identifier,
        'stranger',
      )
    },

    async requestStepUpCode({ account }) {
      if (!account.twoFactorEnabled) throw new AppError('two_factor_not_enabled')
      await secondFactor.sendStepUpCode(account)
    },

    async verify(body, device, { address, addressBucket }) {
      await limits.charge(limits.verificationCharges(addressBucket))
      const { identifier, key, account } = await findNamedAccount(accounts, body.identifier, defaultCountry)
      const client = { fingerprint: device.fingerprint, addressBucket }
      const { passes, first, proof, newDigest } = await checkFirstFactor(account, identifier, body, client)
      // Without the first factor nobody may try, or use up, the owner's code: the try counts on a decoy. So does one
      // for an unconfirmed account: anybody can register one, and must not see by it who had one before.
      const tried = passes && account?.accountConfirmedAt && mayUseCode(account) ? account : null
      const name = typeof body.password === 'string' ? `${key} with password` : key
      await secondFactor
        .takeCode(tried, identifier, {
          typed: body.otp,
          countsOn: tried && first ? 'account' : { name },
          client,
        })
        .catch((error: unknown) => noteFailure(account, error))
      if (tried === null) return noteFailure(account, new AppError('invalid_code'))
      if (tried.lockedAt !== null) throw new AppError('account_locked')
      // Of several callers with right codes and one proof, the first one opens the session of that login.
      if (proof !== null && !(await proof.take())) throw new AppError('invalid_code')
      const amr = first ? [first, 'otp', 'mfa'] : ['otp']
      return sessionOpener.open({ account: tried, device, address, amr, newDigest })
    },
  }
}

interface FirstFactorResult {
  passes: boolean
  first: FirstFactor | null
  /** What an earlier login left; null where this call itself proved the password. */
  proof: FirstFactorProof | null
  newDigest: string | null
}

const noFirstFactor = { first: null, proof: null, newDigest: null }
