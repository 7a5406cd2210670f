/** The outbox and the worker that empties it. */
import type { Ground } from '../../../platform/ground.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import { parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { TestIdentities } from '../../foundation/test-identities/service.ts'
import type { CodeService } from '../codes/service.ts'
import { createOutbox } from '../outbox/service.ts'
import type { MessageStore } from '../outbox/store.ts'
import { createRenderer, type LinkOf } from '../rendering/render.ts'
import type { MessageSender } from '../senders/sender.ts'
import type { Funnel } from '../sms-funnel/funnel.ts'
import type { DeliveryAttemptOptions, SendingCodes } from './delivery-attempt.ts'
import type { RefusedAddressStore } from './refused-address-store.ts'
import { createRefusedAddresses } from './refused-addresses.ts'
import { createDeliveryWorker } from './worker.ts'

export type TellApplication = NonNullable<DeliveryAttemptOptions['tellApplication']>

interface Options extends Pick<Ground, 'clock' | 'config' | 'logger' | 'secret'> {
  database: Database
  stores: { messages: MessageStore; refusedAddresses: RefusedAddressStore }
  funnel: Funnel
  codes: CodeService
  /** Every code that a message may carry. */
  sendingCodes: SendingCodes
  linkOf: LinkOf
  /** See DeliveryAttemptOptions. */
  strangersWaitMs: NonNullable<DeliveryAttemptOptions['strangersWaitMs']>
  tellApplication?: TellApplication
  testIdentities: TestIdentities
  sender: MessageSender
  metrics: Metrics
  catalog: Catalog
}

/**
 * Whatever queues a message wakes the worker when it commits. A message with a code is the exception: the worker
 * would find that its code is not stored yet, so the outbox wakes it after the code is stored.
 */
export function createDelivery(options: Options) {
  const { database, testIdentities, config, catalog } = options
  const { messages } = options.stores
  const refusedAddresses = createRefusedAddresses(options)
  const worker = createDeliveryWorker({
    ...options,
    store: messages,
    codes: options.sendingCodes,
    async isForNobody(destination) {
      const identifier = parseIdentifier(destination, config.accounts.defaultCountry)
      return identifier !== null && (await testIdentities.find(identifier)) !== null
    },
    refusedAddresses,
    codeLifetimeSeconds: config.codes.lifetimeSeconds,
    render: createRenderer(config, catalog, options.linkOf),
  })
  database.onInsert('messages', ({ codeSeed }) => {
    if (!codeSeed) worker.wake()
  })
  return {
    worker,
    refusedAddresses,
    outbox: createOutbox({ ...options, messages, worker, language: catalog.language }),
  }
}
