/** The list of messages with their outcomes, and sending one again. */

import type { AccountStore } from '../../domain/accounts/core/store.ts'
import {
  mergeNewest,
  type Page,
  type PageQuery,
  pageOf,
  readPage,
  toPage,
} from '../../domain/foundation/events/page.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import { outboxChannels } from '../../domain/messages/outbox/message.ts'
import type { Outbox } from '../../domain/messages/outbox/service.ts'
import type { Funnel } from '../../domain/messages/sms-funnel/funnel.ts'
import { type SmsReportRow, smsReport } from '../../domain/messages/sms-funnel/report.ts'
import type { Ground } from '../../platform/ground.ts'
import { parseWholeNumber, readNumber, readOneOf, readTime } from '../../platform/http/read-values.ts'
import { AppError } from '../../texts/errors.ts'
import type { Directory } from '../directory/service.ts'
import { type ListedMessage, type MessageFilter, type MessageLogStore, messageStates } from './store.ts'

interface MessageQuery extends PageQuery {
  state?: string | undefined
  channel?: string | undefined
  gateway?: string | undefined
  since?: string | undefined
  /** Any part of a contact or a name of the person; or the whole destination, where no account has it. */
  to?: string | undefined
}

interface SmsReportQuery extends PageQuery {
  days?: string | undefined
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  directory: Directory
  funnel: Funnel
  outbox: Outbox
  stores: { accounts: AccountStore; messageLog: MessageLogStore }
}

const MOST_DAYS = 365

export type MessageLog = ReturnType<typeof createMessageLog>

export function createMessageLog(needs: Needs) {
  const { directory, funnel, outbox, clock, config, stores } = needs
  const { messageLog: store } = stores

  const time = () => ({ codeLifetimeSeconds: config.codes.lifetimeSeconds, now: clock.now() })

  async function find(id: string): Promise<ListedMessage> {
    const message = await store.find(parseWholeNumber(id) ?? 0, time())
    if (message === null) throw new AppError('message_not_found')
    return message
  }

  async function list(account: string | undefined, query: MessageQuery): Promise<Page<ListedMessage>> {
    const { limit, after } = readPage(query)
    const filter = {
      account,
      state: readOneOf('state', query.state, messageStates) ?? null,
      channel: readOneOf('channel', query.channel, outboxChannels) ?? null,
      gateway: query.gateway ?? null,
      since: readTime('since', query.since) ?? null,
    }
    const page = toPage(await read(filter, query.to, after, limit + 1), limit, (row) => row)
    if (account === undefined) await directory.recordList(page.items.length)
    return page
  }

  async function read(filter: MessageFilter, to: string | undefined, after: number | null, limit: number) {
    if (to === undefined) return store.list(filter, after, limit, time())
    const destination = parseIdentifier(to, config.accounts.defaultCountry)?.destination ?? to
    const people = await directory.uuidsOf(to)
    const lists = await Promise.all([
      store.list({ ...filter, destination }, after, limit, time()),
      ...people.map((account) => store.list({ ...filter, account }, after, limit, time())),
    ])
    return mergeNewest(lists, limit)
  }

  return {
    /** Newest first. */
    list: (query: MessageQuery): Promise<Page<ListedMessage>> => list(undefined, query),
    /** Returns the account that the message names, and the one to whose contact it goes. */
    async reached(id: string): Promise<string[]> {
      const { account, destination } = await find(id)
      const identifier = parseIdentifier(destination, config.accounts.defaultCountry)
      const meant = identifier && (await stores.accounts.findByIdentifier(identifier, 'login'))
      return [account, meant?.uuid].flatMap((uuid) => uuid ?? [])
    },
    async get(id: string): Promise<ListedMessage> {
      const message = await find(id)
      await directory.recordList(1)
      return message
    },
    /** Lists the messages that were sent to the owner of an account. */
    async listOfAccount(uuid: string, query: MessageQuery): Promise<Page<ListedMessage>> {
      const account = await directory.view(uuid)
      return list(account.uuid, query)
    },
    /** Sends a message again that was refused. */
    async retry(id: string): Promise<void> {
      const message = await find(id)
      if (!(await store.retry(message.id, config.codes.lifetimeSeconds, clock.now())))
        throw new AppError('not_resendable')
      outbox.wake()
    },
    async smsReport({ days: text = '7', ...query }: SmsReportQuery): Promise<Page<SmsReportRow>> {
      const days = readNumber('days', text, { minimum: 1, maximum: MOST_DAYS })
      const keyOf = ({ gateway, country }: SmsReportRow) => `${gateway} ${country}`
      return pageOf(query, smsReport(await funnel.report(days)), { list: 'sms', keyOf })
    },
  }
}
