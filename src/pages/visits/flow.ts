/**
 * The state of a way through the pages. It travels in the query, encrypted and authenticated, and belongs to one browser
 * for a day, so that a wrong password writes no row. It holds no password, code or token: what was proved or sent is in a
 * ticket, whose name is here.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { ServerSecret } from '../../platform/secret.ts'
import { AppError, type ErrorCode, type FieldError, type TwoFactorMethod } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'

export interface Problem {
  code: ErrorCode | 'start_again' | 'earlier_sign_in' | 'provider_denied' | 'provider_failed'
  fields?: FieldError[] | undefined
  /** It is worth another try then, in seconds since 1970. */
  until?: number | undefined
  /** What the team's own program says, in the reader's language. */
  message?: string | undefined
  /** The one that could not sign somebody in. */
  provider?: string | undefined
}

/** A way that the person left, or a page that was open too long, is nobody's mistake: its sentence is no error. */
export const isMistake = ({ code }: Problem): boolean =>
  ![
    'start_again',
    'login_expired',
    'invalid_sign_in_state',
    'provider_denied',
    'reauthentication_required',
  ].includes(code)

export interface Flow {
  language?: Language
  /** The code of an invitation, whose link led here. */
  invitation?: string
  /** The version of the terms that was accepted on this way. */
  terms?: string
  /** Where the way leads in the end, an address that was found right. */
  to?: string
  /** The values that were typed, never a secret. */
  typed?: Record<string, string>
  problem?: Problem
  /** The name of a sentence. */
  notice?: string
  /** The ticket of what was proved or sent. */
  ticket?: string
  methods?: TwoFactorMethod[]
  /** The application that gets who signed in. */
  handOver?: {
    application: string
    redirectUri: string
    /** Empty if the application sent none. */
    challenge: string
    state?: string
    nonce?: string
    /** The scopes that were granted. */
    scope?: string
  }
  /** The application asks for two factors, so a device that is trusted does not spare the second one. */
  distrusts?: true
  /** Somebody else may have begun the way: the page that leads on to the application waits for a press. */
  asks?: true
  /** The hand-over needs a sign-in since then, in milliseconds since 1970. */
  signInAfter?: number
  /** The field for a code takes letters: a recovery code, or a temporary access code. */
  letters?: boolean
  /** The contact to which a code went, masked, or those to which a notice went, as a list. */
  sentTo?: string
  /** The limits admit it again then, in seconds since 1970. */
  sendAgainAt?: number
}

/** The part of a flow that another way begins with: the language that the reader chose. */
export const languageOf = ({ language }: Flow) => (language === undefined ? {} : { language })

/** The same, and the application that waits for the end of the way. */
export const onwardsOf = ({ handOver, ...flow }: Flow) => ({
  ...languageOf(flow),
  ...(handOver && { handOver }),
})

/** The same, where the way leads in the end, and the sign-in that is still asked for. */
export const againOf = ({ to, signInAfter, distrusts, ...flow }: Flow) => ({
  ...onwardsOf(flow),
  ...(to !== undefined && { to }),
  ...(signInAfter !== undefined && { signInAfter }),
  ...(distrusts && { distrusts }),
})

/**
 * The flow of another sign-in: it leads to the application that waits, if one does, otherwise to this page. Whoever needs
 * none any more is led to the page.
 */
export const toSignIn = (flow: Flow, page: string): Flow => ({ ...onwardsOf(flow), to: page })

const LABEL = 'page flow'
const LIFETIME_SECONDS = 86_400
const MAXIMUM_LENGTH = 1500
/** An application's `state` may be long. nginx as it comes refuses an answer with more than 4 KiB of headers. */
const MAXIMUM_WITH_STATE = 3000

/** The team's own program may say much. After signing out, `state` is part of the address, which then is longer than one that was asked for may be. */
const hasLong = ({ handOver, to = '', problem }: Flow) =>
  handOver !== undefined || to.length > 512 || problem?.message !== undefined

interface Sealed {
  flow: Flow
  /** A tag of the browser, one of the session under which the flow was made, and when that was, in seconds. */
  browser: string
  session?: string
  at: number
}

/** `id`: the cookie of the browser, or the id of the session. */
const tagOf = (id: string) =>
  createHash('sha256').update('poterne flow ').update(id).digest('base64url').slice(0, 16)

export interface OpenedFlow {
  flow: Flow
  isFresh: boolean
  /** Tells whether the flow was made while this session was signed in. */
  isOfSession(sessionId: string): boolean
}

export type FlowSeal = ReturnType<typeof createFlowSeal>

export function createFlowSeal({ secret, clock }: { secret: ServerSecret; clock: Clock }) {
  const now = () => Math.floor(clock.now().getTime() / 1000)
  const write = (sealed: Sealed) => secret.seal(LABEL, JSON.stringify(sealed)).toString('base64url')
  return {
    /** Seals the flow for the query. `sessionId`: who is signed in; null: nobody. */
    seal(flow: Flow, browser: string, sessionId: string | null): string {
      const session = sessionId === null ? {} : { session: tagOf(sessionId) }
      const sealed = { flow, browser: tagOf(browser), ...session, at: now() }
      const { typed: _, sentTo: __, notice: ___, ...least } = flow
      const maximum = hasLong(flow) ? MAXIMUM_WITH_STATE : MAXIMUM_LENGTH
      // A page without what was typed is better than one that no proxy lets pass.
      const unsaid = least.problem && { problem: { ...least.problem, message: undefined } }
      for (const shorter of [flow, { ...flow, typed: {} }, least, { ...least, ...unsaid }]) {
        const text = write({ ...sealed, flow: shorter })
        if (text.length <= maximum) return text
      }
      throw new AppError('invalid_request', { cause: 'flow_too_long' })
    },
    /** Null for what was changed, belongs to another browser, or is too old; that one can still say what was typed. */
    open(text: string | undefined, browser: string): OpenedFlow | null {
      if (text === undefined || text.length > MAXIMUM_WITH_STATE || !/^[\w-]+$/.test(text)) return null
      const opened = secret.tryToOpen(LABEL, Buffer.from(text, 'base64url'))
      if (opened === null) return null
      const { flow, browser: tag, session, at } = JSON.parse(opened.bytes.toString('utf8')) as Sealed
      if (tag !== tagOf(browser)) return null
      return {
        flow,
        isFresh: now() - at < LIFETIME_SECONDS,
        isOfSession: (sessionId) => session === tagOf(sessionId),
      }
    },
  }
}
