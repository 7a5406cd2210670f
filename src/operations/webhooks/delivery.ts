/** One request that tells an endpoint of an event. */
import { carriedRecord } from '../../domain/accounts/core/account-schema.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import { type EventRecord, eventRecord } from '../../domain/foundation/events/event-schema.ts'
import type { StoredEvent } from '../../domain/foundation/events/store.ts'
import type { WebhookConfig } from '../../platform/config/types.ts'
import { sendSigned } from '../../platform/signed-request.ts'

interface Needs {
  stores: { accounts: Pick<AccountStore, 'findByUuid'> }
  roles: Pick<Roles, 'nameOf'>
}

const TIMEOUT_MS = 15_000

export type Deliver = ReturnType<typeof createDeliver>

export function createDeliver({ stores, roles }: Needs) {
  /** Read for each attempt, so that a late one tells the newest. */
  async function stateOf(uuid: string | null) {
    const account = uuid === null ? null : await stores.accounts.findByUuid(uuid)
    if (account === null) return null
    const { profile, username, groups, role } = carriedRecord(account, roles)
    return {
      uuid: account.uuid,
      email: account.emailConfirmedAt && account.email,
      phone: account.phoneConfirmedAt && account.phone,
      ...{ username, profile, role_id: account.roleId, role, groups },
      metadata: account.metadata ?? {},
      language: account.language,
      locked: account.lockedAt !== null,
      confirmed: account.accountConfirmedAt !== null,
      created_at: account.createdAt.toISOString(),
    }
  }

  /** Rejects only where the account cannot be read. */
  return async <Answer = null>(
    webhook: WebhookConfig,
    event: StoredEvent,
    signal: AbortSignal,
    read?: (response: Response) => Promise<Answer>,
  ) => {
    const data = {
      ...shown(eventRecord(event)),
      ...(webhook.accountState && { account_state: await stateOf(event.account) }),
    }
    const { type, created_at: timestamp } = data
    const message = {
      id: `evt_${event.id}_${event.createdAt.getTime()}`,
      body: JSON.stringify({ type, timestamp, data }),
      timeoutMs: TIMEOUT_MS,
      signal,
    }
    return sendSigned(webhook, message, read)
  }
}

/** An event as its reader of the back end sees it, without where the person was, and without the contact of an administrator. */
function shown({ address: _, device: __, actor, ...event }: EventRecord) {
  return { ...event, actor: actor.type === 'administrator' ? { ...actor, name: null } : actor }
}
