/** The services of `foundation` and `messages`, and the worker that empties the outbox. */

import { createAccountCodeSending } from '../domain/accounts/account-codes/service.ts'
import { createMailedInvitations } from '../domain/accounts/admission/invitation-codes.ts'
import { createEventTail } from '../domain/foundation/events/event-tail.ts'
import { createGatheredEvents } from '../domain/foundation/events/gathered-events.ts'
import { createHashing } from '../domain/foundation/hashing/service.ts'
import { type Identifier, parseIdentifier } from '../domain/foundation/identifiers/identifier.ts'
import { withPumpingGuard } from '../domain/foundation/limits/pumping-guard.ts'
import { createLimitService } from '../domain/foundation/limits/service.ts'
import type { Metrics } from '../domain/foundation/metrics/metrics.ts'
import { createTestIdentities } from '../domain/foundation/test-identities/service.ts'
import { type CodeService, createCodeService } from '../domain/messages/codes/service.ts'
import {
  type AccountCodeKind,
  accountCodeKinds,
  type SentCodePurpose,
} from '../domain/messages/codes/store.ts'
import type { DeliveryAttemptOptions, SendingCodes } from '../domain/messages/delivery/delivery-attempt.ts'
import type { Reaches } from '../domain/messages/delivery/reach.ts'
import { createRefusedAddresses } from '../domain/messages/delivery/refused-addresses.ts'
import { createDeliveryWorker } from '../domain/messages/delivery/worker.ts'
import { createOperatorNotices, type TellOperator } from '../domain/messages/outbox/operator-notices.ts'
import { LOGOUTS } from '../domain/messages/outbox/queue-sql.ts'
import { createOutbox } from '../domain/messages/outbox/service.ts'
import { createRenderer, type LinkOf } from '../domain/messages/rendering/render.ts'
import type { Breaker } from '../domain/messages/senders/breaker.ts'
import type { MessageSender } from '../domain/messages/senders/sender.ts'
import { createFunnel } from '../domain/messages/sms-funnel/funnel.ts'
import { createReceiptService } from '../domain/messages/sms-funnel/receipts.ts'
import { createRemovalLinks } from '../domain/self-service/two-factor-removals/links.ts'
import { createUndoLinks } from '../domain/sign-in/undo/links.ts'
import { backChannelsOf } from '../platform/config/applications.ts'
import type { Ground } from '../platform/ground.ts'
import type { Network } from '../platform/guarded-fetch.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Catalog } from '../texts/catalog.ts'
import type { Stores } from './stores.ts'

/** Six digits or 16 letters: the purpose of a message says whose code it carries. */
function createSendingCodes(
  codes: CodeService,
  accountCodes: ReturnType<typeof createAccountCodeSending>,
): SendingCodes {
  const isAccountCode = (purpose: SentCodePurpose): purpose is AccountCodeKind =>
    (accountCodeKinds as readonly string[]).includes(purpose)
  return {
    start: ({ purpose, ...binding }, seed) =>
      isAccountCode(purpose) ? accountCodes.start(binding, seed) : codes.start({ ...binding, purpose }, seed),
    reveal: ({ purpose, ...binding }, seed) =>
      isAccountCode(purpose)
        ? accountCodes.reveal(binding, seed)
        : codes.reveal({ ...binding, purpose }, seed),
  }
}

/** All parts that the services are built on. */
export interface WholeGround extends Ground {
  catalog: Catalog
  metrics: Metrics
  network: Network
  database: Database
  stores: Stores
  sender: MessageSender
  reaches: Reaches
  breaker: Breaker
}

/** Each function below builds one folder of the domain on top of those before it, and gives all of them. */
export function createFoundation(ground: WholeGround) {
  // A room that notices something for the operator is built before the one that sends it.
  let send: TellOperator | null = null
  const tellOperator: TellOperator = (purpose, about) => send?.(purpose, about)
  const testIdentities = createTestIdentities(ground)
  return {
    ...ground,
    testIdentities,
    // Nothing is sent there, so that no gateway is needed.
    reaches: (identifier: Identifier) => testIdentities.isNamed(identifier) || ground.reaches(identifier),
    tellOperator,
    tellOperatorBy: (sending: TellOperator) => {
      send = sending
    },
    hashing: createHashing(ground),
    events: createGatheredEvents(ground),
    eventTail: createEventTail(ground),
  }
}

/** The funnel of SMS comes with the limits, which ask it for the ranges of numbers that are closed. */
export function createLimits(below: ReturnType<typeof createFoundation>) {
  const { stores, tellOperator } = below
  const funnel = createFunnel({ ...below, store: stores.smsFunnel, closings: stores.smsClosings })
  const limits = createLimitService({
    ...below,
    store: withPumpingGuard(stores.limits, { closedBy: funnel.closedBy }),
    onAlarm: () => tellOperator('operator_wrong_codes'),
    onDry: (pool) => tellOperator('operator_pool_dry', pool),
  })
  return { ...below, funnel, limits }
}

type TellApplication = NonNullable<DeliveryAttemptOptions['tellApplication']>

/**
 * Whatever queues a message wakes the worker when it commits, as does whatever may end the session of an application. A message with a code is the exception: the worker
 * would find that its code is not stored yet, so the outbox wakes it after the code is stored.
 */
function createDelivery(
  below: ReturnType<typeof createLimits>,
  codes: CodeService,
  linkOf: LinkOf,
  tellApplication: TellApplication,
) {
  const { database, testIdentities, config, catalog, limits } = below
  const { messages } = below.stores
  const refusedAddresses = createRefusedAddresses(below)
  const worker = createDeliveryWorker({
    ...below,
    tellApplication,
    applications: backChannelsOf(config).map(({ id }) => id),
    store: messages,
    codes: createSendingCodes(codes, createAccountCodeSending(below)),
    strangersWaitMs: limits.strangersWaitMs,
    async isForNobody(destination) {
      const identifier = parseIdentifier(destination, config.accounts.defaultCountry)
      return identifier !== null && (await testIdentities.find(identifier)) !== null
    },
    refusedAddresses,
    codeLifetimeSeconds: config.codes.lifetimeSeconds,
    render: createRenderer(config, catalog, linkOf),
  })
  database.onInsert('messages', ({ codeSeed }) => {
    if (codeSeed) return
    worker.wake('email')
    worker.wake('sms')
  })
  database.onInsert(LOGOUTS, () => worker.wake('application'))
  return {
    worker,
    refusedAddresses,
    outbox: createOutbox({ ...below, codes, messages, worker, language: catalog.language }),
  }
}

/** A message may carry a link of a folder above: the links are made from the secret alone. */
export function createMessages(below: ReturnType<typeof createLimits>) {
  const { stores, config, funnel, limits, secret } = below
  const { baseUrl } = config.server
  const codes = createCodeService({ ...below, onRight: funnel.verified, onWrong: limits.noteWrongCode })
  const removalLinks = createRemovalLinks({ secret, baseUrl })
  const undoLinks = createUndoLinks({ secret, baseUrl })
  // The pages, which know the applications and are built last, say how one is told.
  let tell: TellApplication | null = null
  const tellApplication: TellApplication = async (message) =>
    tell === null ? { outcome: 'failed', detail: 'internal_error' } : tell(message)
  const mailedInvitations = createMailedInvitations({ secret, invitationUrl: config.accounts.invitationUrl })
  const linkOf: LinkOf = ({ removal, undo, invitation }) => {
    if (invitation !== undefined) return mailedInvitations.linkTo(invitation)
    if (undo !== undefined) return undoLinks.linkTo(undo)
    return removal === undefined ? null : removalLinks.linkTo(removal)
  }
  const delivery = createDelivery(below, codes, linkOf, tellApplication)
  below.tellOperatorBy(createOperatorNotices({ ...below, outbox: delivery.outbox }))
  const tellApplicationsBy = (telling: TellApplication) => {
    tell = telling
  }
  const receipts = createReceiptService({ ...below, store: stores.smsFunnel })
  return { ...below, ...delivery, codes, undoLinks, mailedInvitations, receipts, tellApplicationsBy }
}
