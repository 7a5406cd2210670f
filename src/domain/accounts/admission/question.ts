/**
 * Asks a program of the team (`[admission]`) whether an account may open, and what it gets. It is asked before anything is
 * written and while nothing is held. Without a good answer nobody comes in.
 */
import { randomUUID } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Ground } from '../../../platform/ground.ts'
import { parseJsonObject } from '../../../platform/http/request-body.ts'
import { findUnstorable } from '../../../platform/http/unstorable.ts'
import { readBounded } from '../../../platform/read-bounded.ts'
import { sendSigned } from '../../../platform/signed-request.ts'
import { AppError, type OwnMessage } from '../../../texts/errors.ts'
import { canonicalTag, type Language } from '../../../texts/languages.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import { mergeGroups, type Profile } from '../core/profile.ts'
import type { Roles } from '../core/roles.ts'
import { groupNames, isMetadata, roleField } from '../core/set-fields.ts'
import { createQuestionTurns } from './turns.ts'

/** Somebody whose account is about to open. */
export interface Newcomer {
  /** The uuid that the account will have. */
  account: string
  /** The one that was proved. */
  contact: { email: string } | { phone: string } | null
  provider: string | null
  profile: Profile | null
  language: Language
  invitation: { id: string; role_id: number | null; groups: string[] } | null
}

/** Parameters of the permit. */
export interface Decision {
  decidedRoleId: number | null
  decidedGroups: string | null
  decidedMetadata: string | null
}

export const nothingDecided: Decision = { decidedRoleId: null, decidedGroups: null, decidedMetadata: null }

type ReadAnswer = { allow: true; decision: Decision } | { allow: false; message: OwnMessage | undefined }

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Pick<Roles, 'read'>
  metrics: Pick<Metrics, 'count'>
}

const TIMEOUT_MS = 5000
const ANSWER_BYTES = 16 * 1024
const MESSAGE_CHARACTERS = 300

/** It is null where the answer is too long. */
async function readAnswer({ body }: Response): Promise<Buffer<ArrayBuffer> | null> {
  const tooLong = new Error('too long')
  return readBounded(body ?? [], ANSWER_BYTES, () => tooLong).catch((error) => {
    if (error === tooLong) return null
    throw error
  })
}

const answerSchema = Type.Union([
  Type.Object({
    allow: Type.Literal(true),
    role_id: Type.Optional(roleField()),
    groups: Type.Optional(groupNames),
    metadata: Type.Optional(Type.Unknown()),
  }),
  Type.Object({
    allow: Type.Literal(false),
    message: Type.Optional(Type.Union([Type.String(), Type.Record(Type.String(), Type.String())])),
  }),
])

export type Question = ReturnType<typeof createQuestion>

export function createQuestion({ config, roles, metrics, clock }: Needs) {
  const { admission } = config
  const turns = createQuestionTurns(TIMEOUT_MS)

  const messageAbout = (person: Newcomer) => ({
    id: `adm_${randomUUID()}`,
    body: JSON.stringify({
      type: 'account.admission',
      timestamp: clock.now().toISOString(),
      data: { ...person, profile: person.profile ?? {} },
    }),
    timeoutMs: TIMEOUT_MS,
    signal: new AbortController().signal,
  })

  /** Null for what says neither yes nor no, or gives a value that an account cannot have. */
  function read(bytes: Uint8Array): ReadAnswer | null {
    try {
      const answer = parseJsonObject(bytes)
      if (!Value.Check(answerSchema, answer) || findUnstorable(answer).length > 0) return null
      if (answer.allow) return { allow: true, decision: decisionOf(answer) }
      const message = answer.message === undefined ? undefined : readMessage(answer.message)
      return message === null ? null : { allow: false, message }
    } catch (error) {
      if (error instanceof AppError) return null
      throw error
    }
  }

  function decisionOf(answer: Static<(typeof answerSchema)['anyOf'][0]>): Decision {
    const { role_id: role, groups, metadata } = answer
    if (!isMetadata(metadata)) throw new AppError('validation_failed')
    return {
      decidedRoleId: role === undefined ? null : roles.read('role_id', role),
      decidedGroups: groups === undefined ? null : JSON.stringify(mergeGroups(null, groups) ?? []),
      decidedMetadata: metadata === undefined ? null : JSON.stringify(metadata),
    }
  }

  function readMessage(message: string | Record<string, string>): OwnMessage | null {
    const table = typeof message === 'string' ? { [config.texts.fallback]: message } : message
    if (Object.values(table).some((text) => [...text].length > MESSAGE_CHARACTERS)) return null
    const byLanguage = Object.fromEntries(
      Object.entries(table).map(([tag, text]) => [canonicalTag(tag) ?? tag, text]),
    )
    return { byLanguage, otherwise: byLanguage[config.texts.fallback] }
  }

  /** Sends the question. `said`: the answer as it came; null where none came, or one that is too long. */
  async function put(person: Newcomer) {
    const outcome = await sendSigned(admission!, messageAbout(person), readAnswer)
    const said = outcome.answer
    const answer = outcome.accepted && outcome.status === 200 && said !== null ? read(said) : null
    const status = outcome.accepted ? `http_${outcome.status}` : outcome.reason
    return { said, answer, status }
  }

  function failed(cause: string): never {
    metrics.count('admissions_total', { outcome: 'failed' })
    throw new AppError('unavailable', { retryAfterSeconds: 5, cause: `admission_${cause}` })
  }

  return {
    isConfigured: admission !== null,
    put,
    /** One question at a time for each of the `keys`. Throws unless the account may open. */
    async ask(person: Newcomer, keys: string[]): Promise<Decision> {
      const turn = await turns.take([person.account, ...keys])
      if (turn === null) failed('busy')
      const { answer, status } = await put(person).finally(turn)
      if (answer === null) failed(status === 'http_200' ? 'bad_answer' : status)
      metrics.count('admissions_total', { outcome: answer.allow ? 'allowed' : 'refused' })
      if (!answer.allow) throw new AppError('registration_refused', { message: answer.message })
      return answer.decision
    },
  }
}
