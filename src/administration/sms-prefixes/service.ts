/** Prefixes of telephone numbers that are closed to SMS, and closing and opening them by hand. */
import type { Page, PageQuery } from '../../domain/foundation/events/page.ts'
import { pageOf } from '../../domain/foundation/events/page.ts'
import type { SmsClosing, SmsClosingStore } from '../../domain/messages/sms-funnel/closing-store.ts'
import type { Funnel } from '../../domain/messages/sms-funnel/funnel.ts'
import { parseDuration } from '../../platform/duration.ts'
import type { Ground } from '../../platform/ground.ts'
import { invalid } from '../../platform/http/read-values.ts'
import { AppError } from '../../texts/errors.ts'
import type { AdminCaller } from '../access/access.ts'
import { type AuditTrailStore, withCreators } from '../audit/store.ts'

interface Needs extends Pick<Ground, 'clock'> {
  funnel: Pick<Funnel, 'refreshClosed'>
  stores: { smsClosings: SmsClosingStore; auditTrail: Pick<AuditTrailStore, 'findNames'> }
}

const [SHORTEST_MS, LONGEST_MS] = [60_000, 30 * 86_400_000]
/** A country code has one digit or more; a number has 15 at most. */
const PREFIX = /^\+[1-9][0-9]{0,13}$/

/** A prefix as people write it: "+371 2". */
const readPrefix = (typed: string): string => typed.replaceAll(/[\s().-]/g, '')

export type SmsPrefixes = ReturnType<typeof createSmsPrefixes>

export function createSmsPrefixes({ clock, funnel, stores }: Needs) {
  const { smsClosings: store, auditTrail } = stores

  /** Those that are closed now, by the prefix; by hand where both closed one. */
  async function listClosed(): Promise<SmsClosing[]> {
    const rows = await store.list(clock.now())
    return withCreators(
      auditTrail,
      rows.filter(({ prefix }, at) => prefix !== rows[at - 1]?.prefix),
    )
  }

  async function get(prefix: string): Promise<SmsClosing> {
    const found = (await listClosed()).find((one) => one.prefix === prefix)
    if (!found) throw new AppError('prefix_not_found')
    return found
  }

  return {
    list: async (query: PageQuery): Promise<Page<SmsClosing>> =>
      pageOf(query, await listClosed(), { list: 'sms_prefixes', keyOf: ({ prefix }) => prefix }),
    get,
    /** Nobody gets an SMS there from now on: on this process at once, on others within some seconds. */
    async close(
      caller: AdminCaller,
      wish: { prefix: string; reason: string; expiresIn: string },
    ): Promise<SmsClosing> {
      const prefix = readPrefix(wish.prefix)
      const reason = wish.reason.trim()
      const lifetimeMs = parseDuration(wish.expiresIn)
      const wrong = [
        ...(PREFIX.test(prefix) ? [] : ['prefix']),
        ...(reason === '' ? ['reason'] : []),
        ...(lifetimeMs === null || lifetimeMs < SHORTEST_MS || lifetimeMs > LONGEST_MS ? ['expires_in'] : []),
      ]
      if (wrong.length > 0) throw invalid(...wrong)
      if (caller.type === 'nobody') throw new AppError('insufficient_scope')
      const now = clock.now()
      const { type, id, name } = caller
      const closedUntil = new Date(now.getTime() + lifetimeMs!)
      await store.put({ prefix, reason, closedUntil, creator: { type, id, name } }, now)
      await funnel.refreshClosed()
      return get(prefix)
    },
    /** Opens what was closed by hand or by the guard. */
    async open(typed: string): Promise<void> {
      if (!(await store.remove(readPrefix(typed), clock.now()))) throw new AppError('prefix_not_found')
      await funnel.refreshClosed()
    },
  }
}
