/** What became of SMS, as it is counted and as gateways report it: PostgreSQL, in every storage shape. */
import type { Sweep } from '../../../platform/postgres/sweep.ts'
import type { CodePurpose } from '../codes/store.ts'

export const stages = ['asked', 'handed_over', 'accepted', 'delivered', 'failed', 'verified'] as const
export type Stage = (typeof stages)[number]

export interface StageCount {
  /** Empty before a gateway was chosen. */
  gateway: string
  /** Empty for a number of no single country. */
  country: string
  stage: Stage
  count: number
}

export interface PrefixCount {
  prefix: string
  codes: number
  verified: number
}

export interface SentMessage {
  gateway: string
  destination: string
}

export type Receipt = 'delivered' | 'failed'

export interface SmsFunnelStore {
  addCounts(counts: StageCount[], now: Date): Promise<void>
  /** By gateway and country, from that day (UTC) on. */
  report(since: Date): Promise<StageCount[]>
  /** Adds to the counters of today. */
  addPrefixes(counts: PrefixCount[], now: Date): Promise<void>
  /**
   * Closes those of the prefixes whose codes are hardly ever verified. A code does not count if its account signed in
   * otherwise while it was valid. Gives the prefixes that had to be looked at closely.
   */
  closePrefixes(
    prefixes: string[],
    lifetimeSeconds: number,
    now: Date,
  ): Promise<(PrefixCount & { isClosed: boolean })[]>
  closedPrefixes(now: Date): Promise<{ prefix: string; closedUntil: Date }[]>
  /** The last SMS with this code was worth it: once. Null where there is none. */
  markVerified(code: { subject: string; purpose: CodePurpose }, now: Date): Promise<SentMessage | null>
  /**
   * How many of the last 200 codes that a gateway took were verified, of those whose time is over. A code does not count
   * if its account signed in otherwise while it was valid.
   */
  conversion(
    gateway: string,
    lifetimeSeconds: number,
    now: Date,
  ): Promise<{ codes: number; verified: number }>
  /**
   * `delivered` is final, `failed` is not. Null where that changes nothing: a repetition, or an id that nobody knows
   * (yet): the receipt is then kept for a minute.
   */
  putReceipt(gateway: string, providerId: string, receipt: Receipt, now: Date): Promise<SentMessage | null>
  /** Gives the receipts that were kept, and whose sending was recorded since, to their messages. */
  applyEarlyReceipts(): Promise<(SentMessage & { receipt: Receipt })[]>
  sweep: Sweep
}
