/**
 * The groups of callers. A counter belongs to the group that fills it: strangers never fill a counter that refuses an
 * owner. The file counters.ts says which counters each group pays.
 *
 * | group    | how a call shows it                                                                          |
 * |----------|----------------------------------------------------------------------------------------------|
 * | owner    | a session; a known device, by its fingerprint; at login, a public address of the last sign-ins |
 * | password | the right password, or the login token that it returned, on an unknown device                |
 * | stranger | nothing of these                                                                             |
 */
export const callerGroups = ['stranger', 'password', 'owner'] as const
export type CallerGroup = (typeof callerGroups)[number]

/** The part of an account that the counters need. */
export interface CallerAccount {
  uuid: string
  accountConfirmedAt: Date | null
}

export type Caller =
  | { group: 'stranger'; addressBucket: string; account: CallerAccount | null; device: null }
  | { group: 'password'; addressBucket: string; account: CallerAccount; device: null }
  /** `device`: which device or session of the account; the wrong tries of each count apart. `by`: which of the two. */
  | {
      group: 'owner'
      by: 'device' | 'session'
      addressBucket: string
      account: CallerAccount
      device: string
    }

/** The place from which a call comes, as limits count it. */
export interface Source {
  addressBucket: string
}

export interface AddressSource extends Source {
  address: string
}

export interface DeviceSource extends Source {
  /** A random value of the device; null where the call names none. */
  fingerprint: string | null
}

/** `account`: whom the call names, if anybody. */
export const stranger = ({ addressBucket }: Source, account: CallerAccount | null = null): Caller => ({
  group: 'stranger',
  addressBucket,
  account,
  device: null,
})

export const withPassword = (account: CallerAccount, { addressBucket }: Source): Caller => ({
  group: 'password',
  addressBucket,
  account,
  device: null,
})

/** The device of a caller whom a public address of the last sign-ins shows. */
export const deviceAt = (addressBucket: string) => `at ${addressBucket}`

/** How the counters name a known device, and a session. */
export const nameOfDevice = (device: string) => `device ${device}`
export const nameOfSession = (sessionId: string) => `session ${sessionId}`

export const onKnownDevice = (account: CallerAccount, device: string, { addressBucket }: Source): Caller => ({
  group: 'owner',
  by: 'device',
  addressBucket,
  account,
  device: nameOfDevice(device),
})

export const inSession = (
  { account, sessionId }: { account: CallerAccount; sessionId: string },
  { addressBucket }: Source,
): Caller => ({ group: 'owner', by: 'session', addressBucket, account, device: nameOfSession(sessionId) })
