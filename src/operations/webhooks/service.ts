/** The endpoints of `[[webhooks]]`, as the operator sees, tries and repeats them. */

import { randomUUID } from 'node:crypto'
import type { Newcomer, Question } from '../../domain/accounts/admission/question.ts'
import { type PageQuery, readPage, toPage } from '../../domain/foundation/events/page.ts'
import type { EventStore, StoredEvent } from '../../domain/foundation/events/store.ts'
import { plainWords } from '../../domain/messages/senders/clean-words.ts'
import type { WebhookConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { readTime } from '../../platform/http/read-values.ts'
import { reach, type Step } from '../../platform/reach.ts'
import { createRedactor } from '../../platform/redact.ts'
import { AppError } from '../../texts/errors.ts'
import { toldTypes } from '../../texts/event-types.ts'
import type { Language } from '../../texts/languages.ts'
import type { Deliver } from './delivery.ts'
import type { WebhookStateStore } from './state-store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  stores: { webhookStates: WebhookStateStore; events: Pick<EventStore, 'idSince'> }
  deliver: Deliver
  admissionQuestion: Pick<Question, 'put'>
}

export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks({ config, stores, deliver, admissionQuestion: question, clock }: Needs) {
  const { webhookStates: store, events } = stores

  function require(name: string): WebhookConfig {
    const webhook = config.webhooks.find((each) => each.name === name)
    if (webhook === undefined) throw new AppError('webhook_not_found')
    return webhook
  }

  async function describe({ name, url, events: names }: WebhookConfig) {
    const found = await store.find(name, toldTypes(names))
    const lagMs = found?.untoldAt ? clock.now().getTime() - found.untoldAt.getTime() : 0
    return {
      name,
      host: new URL(url).host,
      lagSeconds: Math.max(0, Math.floor(lagMs / 1000)),
      setAside: found?.setAside ?? 0,
      givenUp: found?.givenUp ?? 0,
      lastAcceptedAt: found?.lastAcceptedAt ?? null,
      awaySince: found?.awaySince ?? null,
    }
  }

  const askNobodys = async () => {
    const { said, answer, status } = await question.put(inventedPerson(config.server.language))
    return { isAccepted: answer !== null, status, said: said === null ? '' : said.toString() }
  }

  const tell = async (webhook: WebhookConfig) => {
    const event = testEvent(clock.now())
    const outcome = await deliver(webhook, event, new AbortController().signal, readStart)
    const status = outcome.accepted ? String(outcome.status) : outcome.reason
    return { isAccepted: outcome.accepted, status, said: outcome.answer ?? '' }
  }

  /** Tells the endpoint of an event that did not happen, or asks about a person who is not there. */
  async function tryOne(name: string): Promise<{ accepted: boolean; steps: Step[] }> {
    const isAdmission = name === 'admission' && config.admission !== null
    const call = isAdmission ? config.admission! : require(name)
    const steps: Step[] = []
    const note = (step: string, text: string) => void steps.push({ name: step, text })
    if ((await reach(note, new URL(call.url))) !== null) return { accepted: false, steps }
    note('request', `POST of ${isAdmission ? 'account.admission' : 'webhook.test'}, signed`)
    const { isAccepted, status, said } = await (isAdmission ? askNobodys() : tell(require(name)))
    const cleaned = plainWords(said, createRedactor([call.secret, ...call.previousSecrets]))
    note('answer', `${status} ${cleaned}`.trim())
    return { accepted: isAccepted, steps }
  }

  return {
    names: () => config.webhooks.map(({ name }) => name),
    list: () => Promise.all(config.webhooks.map(describe)),
    /** What is set aside or given up, the newest event first. */
    async waiting(name: string, query: PageQuery) {
      require(name)
      const { limit, after } = readPage(query)
      return toPage(await store.waiting(name, after, limit + 1), limit, (row) => row)
    },
    try: tryOne,
    /** All that is set aside, or one event: due at once, given up or not. Returns how many. */
    async retry(name: string, event: number | undefined): Promise<number> {
      require(name)
      return store.retry(name, event ?? null, clock.now())
    },
    /** Tells again what happened since then. */
    async replay(name: string, time: string): Promise<void> {
      require(name)
      const since = readTime('since', time)!
      const first = await events.idSince(since)
      await store.replay(name, first === null ? null : first - 1, since, clock.now())
    },
    /** Forgets endpoints that nobody held for a week, and what was set aside of events that are gone. */
    sweep: (now: Date, limit: number) =>
      store.sweep(
        config.webhooks.map(({ name }) => name),
        now,
        limit,
      ),
  }
}

const READ_BYTES = 4000

/** The beginning of an answer, however long it is. One that breaks off, or never ends, was an answer all the same. */
async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk)
      length += chunk.byteLength
      if (length >= READ_BYTES) break
    }
  } catch {
    // What came until then is shown.
  }
  return Buffer.concat(chunks).subarray(0, READ_BYTES).toString()
}

const testEvent = (now: Date): StoredEvent => ({
  ...{ id: 0, type: 'webhook.test' as never, createdAt: now, outcome: 'success', account: null },
  actor: { type: 'system', id: null, name: null },
  ...{ sessionId: null, requestId: null, data: {}, address: null, device: null },
})

const inventedPerson = (language: Language): Newcomer => ({
  ...{ account: randomUUID(), contact: { email: 'nobody@example.com' }, provider: null, profile: null },
  ...{ language, invitation: null },
})
