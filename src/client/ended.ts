/** Follows `GET /api/v1/auth/sessions/ended`: which tokens are refused though they have not expired. */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

export interface Ended {
  /** Whether such a token was ended. Unknown while there is no answer, or none for too long. */
  refuses(token: { sid: string; sub: string; kid?: string | undefined; iat: number }): boolean | 'unknown'
  /** Done with the first answer, or after two seconds. */
  ready: Promise<void>
  close(): void
}

/** One of the four fields, with `before` beside `account` or alone: only tokens that were issued before it. */
interface Entry {
  session?: string
  account?: string
  key?: string
  before?: number
  until: number
}

interface Rule {
  /** Issued before this second; all of them where it is Infinity. */
  before: number
  until: number
}

const MOST_ENTRIES = 100_000
const FIRST_ANSWER_MS = 2000
const WAIT_SECONDS = 25
const LONGEST_ANSWER_MS = 35_000
/** After a failure, and after the failures that follow it. */
const PAUSES_MS = [1000, 2000, 5000, 10_000]

export function followEnded(url: string, token: string, staleAfterSeconds: number): Ended {
  const rules = new Map<string, Rule>()
  let cursor: string | null = null
  let answeredAt = 0
  let isClosed = false
  let stop = () => {}
  let isReady = () => {}
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
    setTimeout(resolve, FIRST_ANSWER_MS).unref()
  })

  function take({ session, account, key, before, until }: Entry): void {
    const name = nameOf(session, account, key)
    const known = rules.get(name)
    rules.set(name, {
      before: Math.max(known?.before ?? 0, before ?? Number.POSITIVE_INFINITY),
      until: Math.max(known?.until ?? 0, until),
    })
  }

  function forget(): void {
    const now = Date.now() / 1000
    for (const [name, { until }] of rules) if (until < now) rules.delete(name)
  }

  const isFull = () => rules.size > MOST_ENTRIES

  async function ask(): Promise<void> {
    const query = cursor === null ? '' : `?after=${encodeURIComponent(cursor)}&wait=${WAIT_SECONDS}`
    const asked = get(`${url}/api/v1/auth/sessions/ended${query}`, token)
    stop = asked.stop
    const answer = JSON.parse(await asked.body) as { cursor: string; ended: Entry[] }
    forget()
    for (const entry of isFull() ? [] : answer.ended) take(entry)
    // What was not taken is asked for again once there is room.
    cursor = isFull() ? null : answer.cursor
    answeredAt = Date.now()
    isReady()
    if (isFull()) throw new Error('more ended sessions than can be kept')
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !isClosed; ) {
      try {
        await ask()
        failures = 0
      } catch {
        const pause = PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)] as number
        await new Promise<void>((resolve) => {
          stop = resolve
          setTimeout(resolve, pause).unref()
        })
      }
    }
  }

  void follow()

  function refuses({ sid, sub, kid, iat }: Parameters<Ended['refuses']>[0]): boolean | 'unknown' {
    const names = [nameOf(sid), nameOf(undefined, sub), nameOf(undefined, undefined, kid), nameOf()]
    const now = Date.now()
    const isEnded = names.some((name) => {
      const rule = rules.get(name)
      return rule !== undefined && rule.until * 1000 >= now && iat < rule.before
    })
    if (isEnded) return true
    return isFull() || now - answeredAt > staleAfterSeconds * 1000 ? 'unknown' : false
  }

  return {
    ready,
    refuses,
    close() {
      isClosed = true
      stop()
    },
  }
}

const nameOf = (session?: string, account?: string, key?: string) =>
  session ? `session ${session}` : account ? `account ${account}` : key ? `key ${key}` : 'everybody'

/** By node:http, since its socket can be let go: a process that has nothing else to do ends. */
function get(address: string, token: string): { body: Promise<string>; stop(): void } {
  const request = (address.startsWith('https:') ? requestHttps : requestHttp)(address, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    timeout: LONGEST_ANSWER_MS,
  })
  const body = new Promise<string>((resolve, reject) => {
    request.on('socket', (socket) => socket.unref())
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString())
        else reject(new Error(`status ${response.statusCode}`))
      })
    })
  })
  request.end()
  return { body, stop: () => request.destroy(new Error('closed')) }
}
