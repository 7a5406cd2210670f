/**
 * The model of the service, as its clients can know it: whose each account is, which passwords, codes and tokens open
 * it, and which never may again.
 */
import type { Answer } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS } from '../helpers/authenticator.ts'
import type { Actor, Arrival, World } from './world.ts'

/** `maybe`: an answer about it was lost. */
export type Life = 'alive' | 'dead' | 'maybe'

export interface Session {
  access: string
  accessEndsMs: number
  refresh: string
  refreshedMs: number
  /** Refresh tokens that were replaced. */
  stale: string[]
  life: Life
  /** Opened by one factor. */
  single: boolean
}

export interface Account {
  owner: Owner
  uuid: string
  email: string | null
  phone: string | null
  /** A session added the contact then; a contact that came with the registration is not here. */
  addedAtMs: { email?: number; phone?: number }
  /** Any of them may be the one; null: none is set. */
  passwords: Set<string | null>
  /** These passwords must never open it again. */
  oldPasswords: Set<string>
  twoFactor: boolean
  /** Base32, of the authenticator app. */
  app: string | null
  lastStep: number
  recovery: string[]
  sessions: Session[]
}

/** A registration that waits. */
export interface Waiting {
  email: string | null
  phone: string | null
  /** Everybody who registered its identifier so far. */
  tries: Try[]
}

export interface Try {
  who: Actor
  password: string
  atMs: number
}

export interface Owner extends Actor {
  email: string
  phone: string
  waiting: Waiting | null
  account: Account | null
}

/** Broken rules; the walk says which step it was. */
export class Broken extends Error {}

export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Broken(otherwise)
}

/** One of the statuses; with limits also 429, and then nothing happened. It returns true for a success. */
export function expectStatus(world: World, answer: Answer, ...statuses: number[]): boolean {
  const { status, body } = answer
  const limited = status === 429 && (world.limited || body.code === 'too_many_attempts')
  must(
    limited || statuses.includes(status) || body.code === 'server_busy',
    `expected ${statuses.join(' or ')}: ${status} ${JSON.stringify(body)} to ${world.asked()}`,
  )
  return status < 300
}

const CODE_LIFETIME_MS = 10 * 60_000

/** Codes that arrived, and which of them may still serve. */
export interface CodeBook {
  /** The codes of a purpose at a destination, the newest last. */
  arrived(to: string, purpose: Arrival['purpose']): Arrival[]
  /** The newest, where it came after `sinceMs` and nothing can have ended it. */
  newest(to: string, purpose: Arrival['purpose'], since: number): Arrival | null
  /** It served: never again. */
  use(arrival: Arrival): void
  /** If somebody says it served although it cannot have, it is a fault of the service. */
  mayServe(arrival: Arrival): boolean
  used(): Arrival[]
}

export function createCodeBook(world: World): CodeBook {
  const used = new Set<Arrival>()
  const arrived = (to: string, purpose: Arrival['purpose']) =>
    world.arrivals.filter((one) => one.to.toLowerCase() === to.toLowerCase() && one.purpose === purpose)
  return {
    arrived,
    newest(to, purpose, since) {
      const last = world.arrivals
        .slice(since)
        .findLast((one) => one.to.toLowerCase() === to.toLowerCase() && one.purpose === purpose)
      return last ?? null
    },
    use: (arrival) => used.add(arrival),
    /** The life begins with the first attempt to send, which a refusing mail server puts before the arrival. */
    mayServe: (arrival) => !used.has(arrival) && world.nowMs() - arrival.atMs < CODE_LIFETIME_MS + 1000,
    used: () => [...used],
  }
}

const ACCESS_LIFETIME_MS = 15 * 60_000

/** Notes what a login handed out. Nobody but its owner may ever get an account's tokens. */
export function openSession(world: World, who: Actor, account: Account, body: Answer['body']): Session {
  must(account.owner === who, `${who.name} got tokens of the account of ${account.owner.name}`)
  must(
    body.account.uuid === account.uuid || account.uuid === '',
    `tokens of ${body.account.uuid}, asked for ${account.uuid}`,
  )
  must(body.account.account_confirmed === true, 'tokens of an unconfirmed account')
  account.uuid = body.account.uuid
  const session: Session = {
    access: body.access_token,
    accessEndsMs: world.nowMs() + ACCESS_LIFETIME_MS,
    refresh: body.refresh_token,
    refreshedMs: world.nowMs(),
    stale: [],
    life: 'alive',
    single: !account.twoFactor,
  }
  account.sessions.push(session)
  return session
}

const DAY_MS = 86_400_000

/**
 * The account that its owner just proved. Nobody's password opens it if somebody else, from another address and with
 * another password, had registered it too. The exception is a registration so old that it was swept away.
 */
export function proveAccount(world: World, owner: Owner, { email, phone, tries }: Waiting): Account {
  const own = tries.findLast(({ who }) => who === owner)?.password ?? null
  // Two passwords are contested no matter who typed them: nobody can tell one registrant from another.
  const others = tries.filter(({ password }) => password !== own)
  const fresh = others.some(({ atMs }) => world.nowMs() - atMs < 6 * DAY_MS)
  const passwords = others.length === 0 ? [own] : fresh ? [null] : [null, own]
  return {
    owner,
    uuid: '',
    email,
    // A contact that was only claimed beside it may go to the person who proves it.
    phone: email === null ? phone : null,
    addedAtMs: {},
    passwords: new Set(passwords),
    oldPasswords: new Set(tries.flatMap(({ password }) => (passwords.includes(password) ? [] : [password]))),
    twoFactor: false,
    app: null,
    lastStep: 0,
    recovery: [],
    sessions: [],
  }
}

export function replacePassword(account: Account, password: string): void {
  for (const old of account.passwords) if (old !== null) account.oldPasswords.add(old)
  account.passwords = new Set([password])
  account.oldPasswords.delete(password)
}

/** A reset removes the other contact, where a session added it in the last seven days and after the one that was proved. */
export function noteReset(world: World, account: Account, identifier: string, password: string): void {
  const [proved, other] = identifier.includes('@')
    ? (['email', 'phone'] as const)
    : (['phone', 'email'] as const)
  const { [proved]: provedMs = 0, [other]: otherMs = 0 } = account.addedAtMs
  if (otherMs > provedMs && otherMs > world.nowMs() - 7 * DAY_MS) {
    account[other] = null
    delete account.addedAtMs[other]
  }
  replacePassword(account, password)
  endSessions(account)
}

export function endSessions(account: Account, kept?: Session): void {
  for (const session of account.sessions) if (session !== kept) session.life = 'dead'
}

/** Living, with an access token that still has a minute. */
export function livingSession(world: World, account: Account): Session | null {
  return (
    account.sessions.findLast(
      ({ life, accessEndsMs }) => life === 'alive' && accessEndsMs > world.nowMs() + 60_000,
    ) ?? null
  )
}

/** A code of the app that was not used before; the clock moves where the present ones are. */
export function nextAppCode(world: World, account: Account): string {
  const present = () => Math.floor(world.nowMs() / PERIOD_MS)
  while (account.lastStep > present()) world.clock.advance(PERIOD_MS)
  account.lastStep = Math.max(present(), account.lastStep + 1)
  return appCode(account.app!, new Date(account.lastStep * PERIOD_MS))
}

/**
 * Returns the fields that a change inside a session takes beside the password; null: the account needs a code, and has
 * none at hand.
 */
export function stepUp(world: World, account: Account): { otp?: string } | null {
  if (!account.twoFactor) return {}
  const otp = account.recovery.pop() ?? (account.app === null ? undefined : nextAppCode(world, account))
  return otp === undefined ? null : { otp }
}
