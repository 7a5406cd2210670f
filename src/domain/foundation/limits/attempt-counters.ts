/** The counters that calls and tries are charged to: by the address they come from, and by their target. */
import type { Config } from '../../../platform/config/types.ts'
import type { Caller } from './callers.ts'
import type { ChargeName, NamedCharge } from './counter-names.ts'
import { type ByAddress, type CounterTag, createInBursts, inDay, inHour, MINUTE_MS, window } from './rules.ts'
import type { Rule } from './store.ts'

const RECOVERY_CODES_PER_HOUR = 20
const EXPORTS_PER_DAY = 5
const LIFTS_PER_DAY = 10
const INVITATION_MAILS_PER_DAY = 200
const WRONG_BEFORE_NOTICE = 2
const AUTHORIZATIONS_PER_MINUTE = 60
const OWN_CHANGES_PER_HOUR = 120

export function createAttemptCounters(
  { config, tag }: { config: Pick<Config, 'limits'>; tag: CounterTag },
  byAddress: ByAddress,
) {
  const { limits } = config

  const inBursts = createInBursts(byAddress)

  /** So many a minute by the address that they come from. */
  const inMinute = (name: ChargeName, count: number) => (addressBucket: string) =>
    byAddress(name, addressBucket, window(count, MINUTE_MS))

  const failures = (count: number): Rule => ({
    kind: 'failures',
    count,
    windowMs: limits.loginFailuresWindowSeconds * 1000,
    refusalMs: limits.loginRefusalSeconds * 1000,
    maximumMs: limits.loginRefusalMaximumSeconds * 1000,
  })

  const wrongPasswordsOn = (accountUuid: string, device: string): NamedCharge => ({
    key: `wrong-passwords-device:${tag('device', accountUuid, device)}`,
    rule: failures(limits.loginFailures),
  })
  const wrongPasswordsFrom = (addressBucket: string, identifierKey: string) =>
    byAddress(`wrong-passwords:${tag(identifierKey)}`, addressBucket, failures(limits.loginFailures))
  const wrongPasswordsAnywhere = (identifierKey: string): NamedCharge => ({
    key: `wrong-passwords-all:${tag(identifierKey)}`,
    rule: failures(limits.loginFailuresAllAddresses),
  })

  return {
    registrations: (addressBucket: string) =>
      inBursts('register', addressBucket, limits.registrationsBurst, limits.registrationsPerHour),
    /** Counts by address, or by the device that is known where the address is refused. */
    visits(kind: 'login' | 'verification', by: { address: string } | { knownDevice: string }): NamedCharge[] {
      const rule =
        kind === 'login'
          ? window(limits.loginsPerMinute, MINUTE_MS)
          : window(limits.verifications, limits.verificationsWindowSeconds * 1000)
      return 'address' in by
        ? byAddress(`${kind}s`, by.address, rule)
        : [{ key: `${kind}-device:${by.knownDevice}`, rule }]
    },
    /** Options of a passkey, which cost next to nothing, and tries with one. */
    passkeyOptions: inMinute('passkey-options', 600),
    passkeyAttempts: inMinute('passkey-attempts', 60),
    /** A password is about to be compared; to be cleared when it was right. */
    wrongPasswords(caller: Caller, identifierKey: string): NamedCharge[] {
      if (caller.group === 'owner') return [wrongPasswordsOn(caller.account.uuid, caller.device)]
      return [
        ...wrongPasswordsFrom(caller.addressBucket, identifierKey),
        wrongPasswordsAnywhere(identifierKey),
      ]
    },
    wrongPasswordsOn,
    wrongPasswordsFrom,
    wrongPasswordsAnywhere,
    /**
     * A recovery code is about to be compared. `subject`: the account, or its decoy. `byAddress`: of somebody whom only
     * the address shows, which uses up none of what a token or password pays for.
     */
    recoveryCodes: (
      subject: string,
      addressBucket: string,
      { byAddress = false }: { byAddress?: boolean | undefined } = {},
    ): NamedCharge[] => {
      const from = tag(byAddress ? 'only shown by' : 'from', addressBucket)
      return [inHour(`recovery-codes:${tag('account', subject)}:${from}`, RECOVERY_CODES_PER_HOUR)]
    },
    /** Wrong second factors behind the right password; the next one is told to the owner. */
    wrongSecondFactors: (accountUuid: string) =>
      inDay(`wrong-second-factors:${tag('account', accountUuid)}`, WRONG_BEFORE_NOTICE),
    wrongCodesOfMinute: {
      key: 'wrong-codes-of-minute',
      rule: window(limits.wrongCodesAlarm, MINUTE_MS),
    } satisfies NamedCharge,
    /** A token of administration was refused. */
    refusedTokens: inMinute('refused-tokens', 20),
    /** An invitation does not hold; one that does is never counted. */
    wrongInvitations: inMinute('wrong-invitations', 20),
    /** A receipt of a gateway without its secret. */
    refusedReceipts: inMinute('receipts', 600),
    /** An application sends a browser to the pages, which is signed in there. One that goes on for ever stops itself alone. */
    authorizations: (sessionId: string, application: string): NamedCharge[] => [
      {
        key: `authorizations:${sessionId}:${application}`,
        rule: window(AUTHORIZATIONS_PER_MINUTE, MINUTE_MS),
      },
    ],
    /** Charges an application that asks for tokens. */
    tokenCalls: inMinute('token-calls', 120),
    /** Charges a visit to the undo page, or its form. */
    undoVisits: inMinute('undo-visits', 300),
    /** An administrator lifts the limits of an account, or of an identifier that no account has. */
    lifts: (name: string) => inDay(`lifts-in-day:${tag('lifts', name)}`, LIFTS_PER_DAY),
    /** An administrator or a token has an invitation sent by mail. */
    invitationMails: (name: string) =>
      inDay(`invitation-mails-in-day:${tag('inviter', name)}`, INVITATION_MAILS_PER_DAY),
    /** Somebody who is signed in changes what asks for no proof. Each change is an event, and these are kept for long. */
    ownChanges: (accountUuid: string): NamedCharge[] => [
      inHour(`own-changes-in-hour:${tag('account', accountUuid)}`, OWN_CHANGES_PER_HOUR),
    ],
    /** A copy of everything that is stored about a person. */
    exports: (accountUuid: string) => inDay(`exports-in-day:${tag('account', accountUuid)}`, EXPORTS_PER_DAY),
  }
}
