/** The session of this client: its tokens, who is signed in, and the refresh. The storage is the truth, since tabs share it. */
import type { Account } from './api.ts'
import { isProblem, PoterneError } from './error.ts'
import { type Answer, sendAgain } from './send.ts'
import { hasBrowserStorage, parse, type Storage } from './storage.ts'

export type State =
  | { status: 'signed_in'; account: Account }
  | { status: 'signed_out' | 'loading'; account: null }

export interface Kept {
  access_token: string
  refresh_token: string
  /** When the tokens came, by this machine's clock, in milliseconds. */
  came: number
  account: Account | null
}

export type Session = ReturnType<typeof createSession>

declare function addEventListener(type: 'storage', listener: (event: { key: string | null }) => void): void

const REFRESH_SECONDS = 10
/** A token is refreshed when so much of its life is left, or a quarter of it where that is less. */
const LEFT_SECONDS = 30

interface SessionOptions {
  key: string
  storage: Storage
  refresh(refreshToken: string): Promise<Answer>
  isShared: boolean
}

export function createSession({ key, storage, refresh, isShared }: SessionOptions) {
  const listeners = new Set<() => void>()
  let state: State = { status: 'loading', account: null }
  let shown = ''
  let refreshing: Promise<Kept | null> | null = null

  function show(text: string | null): Kept | null {
    const held = parse<Kept>(text)
    const kept = typeof held?.refresh_token === 'string' ? held : null
    const next: State = kept?.account
      ? { status: 'signed_in', account: kept.account }
      : { status: kept ? 'loading' : 'signed_out', account: null }
    const nextShown = JSON.stringify(next)
    if (nextShown === shown) return kept
    shown = nextShown
    state = next
    // What a listener throws, or answers later, is its own affair.
    for (const listener of listeners) (async () => listener())().catch(() => {})
    return kept
  }

  /** One at a time: reads what is kept, and writes what `change` makes of it, unless that is undefined. */
  function update(change: (held: Kept | null) => Kept | null | undefined): Promise<Kept | null> {
    return storage.inTurn(async () => {
      const held = show(await storage.read(key))
      const next = change(held)
      if (next === undefined) return held
      const text = next && JSON.stringify(next)
      await storage.write(key, text)
      return show(text)
    })
  }

  const read = () => update(() => undefined)

  /** A new pair is kept before its first use. */
  const keep = ({ access_token, refresh_token, account = null }: Answer) =>
    update(() => ({ access_token, refresh_token, account, came: Date.now() }) as Kept)

  /** Sends what the storage holds, and commits only to a storage that holds it still. */
  async function renew(refused: Kept): Promise<Kept | null> {
    const sent = await read()
    if (sent?.refresh_token !== refused.refresh_token) return sent
    const commit = (next: (held: Kept) => Kept | null) =>
      update((held) => (held?.refresh_token === sent.refresh_token ? next(held) : undefined))
    try {
      const { access_token, refresh_token } = (await refresh(sent.refresh_token)) as unknown as Kept
      return await commit((held) => ({ ...held, access_token, refresh_token, came: Date.now() }))
    } catch (error) {
      if (!isOver(error) || error.status !== 401) throw error
      return commit(() => null)
    }
  }

  /** The successor of these tokens, in the same session. */
  async function refreshed(held: Kept): Promise<Kept> {
    if (storage.readOnly) throw new PoterneError('needs_refresh')
    // A refresh that is under way may be that of a session before this one.
    for (;;) {
      refreshing ??= sendAgain(() => inTime(renew(held))).finally(() => {
        refreshing = null
      })
      const next = await refreshing
      if (!isSame(next, held)) throw new PoterneError('signed_out')
      if (next.refresh_token !== held.refresh_token) return next
    }
  }

  /** A token with time left; null where nobody is signed in. */
  async function fresh(): Promise<Kept | null> {
    const held = await read()
    return held && !hasTimeLeft(held, storage.readOnly ? 0 : LEFT_SECONDS) ? refreshed(held) : held
  }

  async function required(): Promise<Kept> {
    const held = await fresh()
    if (!held) throw new PoterneError('signed_out')
    return held
  }

  const first = storage.read(key)
  if (typeof first === 'object' && first !== null) void read().catch(() => {})
  else show(first)
  if (isShared && hasBrowserStorage())
    addEventListener('storage', (event) => {
      if (event.key === key || event.key === null) void read().catch(() => {})
    })

  return {
    getState: () => state,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    update,
    keep,
    fresh,
    required,
    refreshed,
  }
}

/** An answer that comes later still counts for the session, since the token was used, but nobody waits for it. */
function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new PoterneError('network')), REFRESH_SECONDS * 1000)
    const done = () => globalThis.clearTimeout?.(timer)
    work.then(resolve, reject).then(done, done)
  })
}

export const isOver = (error: unknown): error is PoterneError =>
  isProblem(error, 'token_expired', 'invalid_token')

/** Whether both are tokens of one session. */
export const isSame = (one: Kept | null, other: Kept): one is Kept =>
  one !== null && sidOf(one) === sidOf(other)

export const sidOf = (held: Kept): string | undefined => claimsOf(held).sid

/** The clock of this machine may be an hour wrong: what counts is when the token came, and how long it was to live. */
function hasTimeLeft(held: Kept, leftSeconds: number): boolean {
  const { exp = 0, iat = 0 } = claimsOf(held)
  const age = (Date.now() - held.came) / 1000
  return age >= 0 && exp - iat - age >= Math.min(leftSeconds, (exp - iat) / 4)
}

interface Claims {
  exp?: number
  iat?: number
  sid?: string
}

/** The place of a letter, by its code, in the alphabet A-Z, a-z, 0-9, -, _. */
const sixBitsOf = (code: number) =>
  code > 96 ? code - 71 : code > 94 ? 63 : code > 64 ? code - 65 : code > 47 ? code + 4 : 62

/** What the token says, unverified. Other letters than ASCII come out wrong, and are in none of these claims. */
function claimsOf({ access_token }: Kept): Claims {
  let text = ''
  let bits = 0
  let count = 0
  for (const letter of access_token.split('.')[1] ?? '') {
    bits = ((bits << 6) | sixBitsOf(letter.charCodeAt(0))) & 0xffff
    count += 6
    if (count >= 8) {
      count -= 8
      text += String.fromCharCode((bits >> count) & 0xff)
    }
  }
  return parse<Claims>(text) ?? {}
}
