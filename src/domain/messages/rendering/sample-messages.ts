/** Every message as it would be sent, with made-up values: for looking at them, and for measuring them. */
import type { Config } from '../../../platform/config/types.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import type { Language } from '../../../texts/languages.ts'
import type { CallerGroup } from '../../foundation/limits/callers.ts'
import { accountCodeKinds, codePurposes } from '../codes/store.ts'
import { type Channel, isToNewContact, type MessagePurpose } from '../outbox/message.ts'
import type { PersonMessage } from '../outbox/store.ts'
import type { RenderedMessage } from '../senders/sender.ts'
import { createRenderer } from './render.ts'

/** The values of all messages. Each message uses some of them. */
const values = {
  device: 'Firefox on Linux',
  address: '203.0.113.9',
  provider: 'microsoft',
  passkey: 'My phone',
  left: '9',
  removed: 'email\nidentity google',
}

/** The subjects of messages to the operator: the beginning of numbers, a pool, a gateway, a claim, a webhook. */
const subjects: Record<string, string> = {
  operator_prefix_closed: '+3361',
  operator_pool_dry: 'sms_newcomers',
  operator_gateway_suspended: 'acme',
  operator_claim_missing: 'plan',
  operator_webhook_away: 'app',
  operator_webhook_given_up: 'app',
}

/** Who asks for these codes is known by the password, in a session or as an administrator; all others a stranger may ask for. */
const groups: Partial<Record<string, CallerGroup>> = {
  two_factor: 'password',
  step_up: 'owner',
  email_change: 'owner',
  phone_change: 'owner',
  two_factor_enrolment: 'owner',
  recovery: 'owner',
  invitation: 'owner',
}

/** What the team does says nothing of its devices. */
const ofTheTeam = new Set(['invited', 'recovery_created', 'account_unlocked', 'two_factor_removal'])

/** As outbox/queue-sql.ts stores them. */
function valuesOf(purpose: string, isCode: boolean): Record<string, string> {
  if (purpose.startsWith('operator_')) return { about: subjects[purpose] ?? '' }
  const { device, address, ...rest } = values
  if (!isCode) return ofTheTeam.has(purpose) ? rest : values
  if (groups[purpose] === 'password') return { ...rest, address }
  const isSession = groups[purpose] === 'owner' && !isToNewContact(purpose) && !isAccountCode(purpose)
  return isSession ? values : rest
}

const isAccountCode = (purpose: string) => accountCodeKinds.some((kind) => kind === purpose)

/** A code that an administrator gave lives for a week here. */
const ADMINISTRATORS_CODE = { code: 'K7QM-2XWD-9RHT-4BNP', minutes: 7 * 24 * 60 }

export type RenderSample = (language: Language, purpose: MessagePurpose, channel: Channel) => RenderedMessage

/** `link` stands in some notices; without one they say something else instead. */
export function createSamples(
  config: Pick<Config, 'server' | 'smtp' | 'sms' | 'texts' | 'codes'>,
  catalog: Catalog,
  link: string | null = linkOf(config),
): RenderSample {
  const render = createRenderer(config, catalog, () => link)
  const minutes = Math.ceil(config.codes.lifetimeSeconds / 60)
  const codeOf = (purpose: string) => {
    if (isAccountCode(purpose)) return ADMINISTRATORS_CODE
    if (codePurposes.some((kind) => kind === purpose)) return { code: '012345', minutes }
    return { code: null, minutes: 0 }
  }
  return (language, purpose, channel) => {
    const { code, minutes: left } = codeOf(purpose)
    const destination = channel === 'sms' ? '+33612345678' : 'ada@example.com'
    return render(sampleRow({ language, purpose, channel, destination }, code !== null), code, left)
  }
}

/** The links of notices are as long. */
const linkOf = ({ server }: Pick<Config, 'server'>) => `${server.baseUrl}/undo?t=${'A'.repeat(22)}`

type Row = Pick<PersonMessage, 'language' | 'purpose' | 'channel' | 'destination'>

function sampleRow(row: Row, isCode: boolean): PersonMessage {
  return {
    ...row,
    id: 0,
    values: valuesOf(row.purpose, isCode),
    lane: 0,
    requestId: null,
    accountUuid: null,
    codeSubject: null,
    codePurpose: null,
    codeGroup: groups[row.purpose] ?? 'stranger',
    codeSeed: null,
    createdAt: new Date(),
    attempts: 1,
    firstAttemptAt: new Date(),
    detail: null,
  }
}
