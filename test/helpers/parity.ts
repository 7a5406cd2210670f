/**
 * Measures how long the service takes for identifiers it knows and for those it does not. It is a process of its own on
 * stores that write to disk as in production, asked over HTTP. Calls come in random order, the class of each mixed with
 * the others.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { stringify } from 'smol-toml'
import { newEmail, newPhone, PASSWORD, registration } from './api-client.ts'
import { readMailbox } from './dev-pages.ts'
import { poterneCommand } from './executable.ts'
import { freePort } from './free-port.ts'
import type { PageForm } from './page-forms.ts'
import { newDirectory } from './run-directory.ts'
import { createDatabase, redisPrefix, sharedRedis, startPostgres } from './servers.ts'
import type { Settings, Shape } from './service.ts'
import { type StrangersCall, strangersCall, strangersCalls } from './strangers-calls.ts'
import { waitFor } from './wait.ts'

export interface ParityService {
  post(operation: string, body: unknown, bearer?: string): Promise<{ status: number; text: string }>
  /** Sends a form of the pages, as a browser does that has their cookie. */
  submit(path: string, fields: Record<string, string>): Promise<{ status: number }>
  /** Runs a command on the service; gives what it prints. */
  run(...words: string[]): Promise<string>
  /** The newest code that went to it. */
  code(destination: string): Promise<string>
  /** Locks as an administrator does; false where the database cannot be reached from outside (embedded). */
  lock(identifier: string): Promise<boolean>
  /** A message takes some 5 ms to send, and on the embedded database it holds up whatever call comes meanwhile. */
  untilSent(): Promise<void>
  close(): Promise<void>
}

interface Stores {
  settings: Settings
  lock: ParityService['lock']
  close: () => Promise<void>
}

async function openStores(shape: Shape): Promise<Stores> {
  if (shape === 'embedded') return { settings: {}, lock: async () => false, close: async () => {} }
  // On the disk, which a commit waits for: in memory it would show no time at all.
  const server = await startPostgres({
    directory: newDirectory('postgres'),
    settings: { fsync: 'on', full_page_writes: 'on' },
  })
  const { url } = await createDatabase({ server })
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const redis: Settings =
    shape === 'redis' ? { redis: { url: (await sharedRedis()).url, key_prefix: redisPrefix() } } : {}
  return {
    settings: { server: { secret: 'ab'.repeat(32) }, database: { url }, ...redis },
    lock: async (identifier) => {
      await sql`update accounts set locked_at = now() where email = ${identifier} or phone = ${identifier}`
      return true
    },
    async close() {
      await sql.end()
      await server.stop()
    },
  }
}

/** Wrong codes and mails are not limited here: the limits answer everybody alike, and would end the measuring. */
const unlimited: Settings = {
  limits: { enabled: false },
  codes: { attempts: 100, attempts_per_day: 10_000 },
  sms: { allowed_countries: ['*'] },
}

/** An argon2 that costs nothing, so that whatever else differs stands out. */
const lightHash: Settings = { password: { memory_kib: 8, iterations: 1 } }

export async function startParityService(
  shape: Shape,
  options: { lightHash?: boolean; settings?: Settings } = {},
): Promise<ParityService> {
  const stores = await openStores(shape)
  const directory = newDirectory('parity')
  const port = await freePort()
  const settings = {
    ...unlimited,
    ...(options.lightHash && lightHash),
    ...stores.settings,
    ...options.settings,
    server: { ...stores.settings.server, port },
  }
  await Bun.write(join(directory, 'config.toml'), stringify(settings))
  const log = join(directory, 'log')
  const service = Bun.spawn([...poterneCommand(), 'serve', '--dev'], {
    cwd: directory,
    stdout: Bun.file(log),
    stderr: 'inherit',
  })
  const url = `http://127.0.0.1:${port}`
  await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: 'the service', timeoutMs: 30_000 })
  return {
    async post(operation, body, bearer) {
      const response = await fetch(`${url}/api/v1/auth/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(bearer && { authorization: `Bearer ${bearer}` }) },
        body: JSON.stringify(body),
      })
      return { status: response.status, text: await response.text() }
    },
    async submit(path, fields) {
      const cookie = `poterne-browser=${'ab'.repeat(16)}`
      const body = new URLSearchParams(fields)
      const headers = { origin: url, cookie }
      const { status } = await fetch(url + path, { method: 'POST', headers, body, redirect: 'manual' })
      return { status }
    },
    run: (...words) =>
      new Response(Bun.spawn([...poterneCommand(), ...words], { cwd: directory }).stdout).text(),
    code: (destination) =>
      waitFor(
        async () => {
          const all = await readMailbox(url, () => readFileSync(log, 'utf8'))
          return all.find(({ to, code }) => to === destination && code)?.code
        },
        { what: `a code for ${destination}` },
      ),
    lock: stores.lock,
    untilSent: async () => (shape === 'embedded' ? Bun.sleep(20) : undefined),
    async close() {
      service.kill('SIGTERM')
      await service.exited
      await stores.close()
    },
  }
}

/** One identifier of each kind that a stranger must not tell apart. */
export type Class =
  | 'unknown'
  | 'confirmed'
  | 'unconfirmed'
  | 'locked'
  | 'two factors'
  | 'by a provider, without password'
  | 'by phone'
  | 'unknown phone'

/** A call of a stranger that is timed, for one identifier of each class. */
export interface TimedOperation extends StrangersCall {
  name: string
  /** Sends a random fingerprint, which is looked for among the known devices. */
  sendsDevice: boolean
}

/** It does the same as resend-verification. */
const SAME_AS_ANOTHER = 'resend-confirmation'

const withoutDevice: Omit<TimedOperation, 'sendsDevice'>[] = [
  ...strangersCalls
    .filter(({ operation }) => operation !== SAME_AS_ANOTHER)
    .map((call) => ({ name: call.operation, ...call })),
  {
    ...strangersCall('2fa/verify'),
    name: '2fa/verify with password',
    body: (identifier) => ({ ...strangersCall('2fa/verify').body(identifier), password: 'not the password' }),
  },
]

export const timedCalls: TimedOperation[] = withoutDevice.flatMap((call) => [
  { ...call, sendsDevice: false },
  {
    ...call,
    name: `${call.name}, with a random fingerprint`,
    sendsDevice: true,
    body: (identifier: string) => ({ ...call.body(identifier), device_fingerprint: crypto.randomUUID() }),
  },
])

export const timedCall = (name: string) => timedCalls.find((call) => call.name === name) as TimedOperation

export async function createPeople(service: ParityService): Promise<Map<Class, string>> {
  const logIn = (identifier: string) => {
    const device = { device_fingerprint: 'known to its owner' }
    return service.post('login', { identifier, password: PASSWORD, ...device })
  }
  /** An account that knows a device. */
  const signUp = async (identifier: string) => {
    await service.post('register', registration(identifier))
    await service.post('verify-account', { identifier, otp: await service.code(identifier) })
    await logIn(identifier)
    return identifier
  }
  const people = new Map<Class, string>([
    ['unknown', newEmail()],
    ['unknown phone', newPhone()],
    ['confirmed', await signUp(newEmail())],
    ['by phone', await signUp(newPhone())],
  ])
  const waiting = newEmail()
  await service.post('register', registration(waiting))
  people.set('unconfirmed', waiting)
  const guarded = await signUp(newEmail())
  const { access_token } = JSON.parse((await logIn(guarded)).text) as { access_token: string }
  await service.post('2fa/enable', { password: PASSWORD }, access_token)
  await Bun.sleep(300)
  await service.post('2fa/enable/confirm', { otp: await service.code(guarded) }, access_token)
  people.set('two factors', guarded)
  const locked = await signUp(newEmail())
  if (await service.lock(locked)) people.set('locked', locked)
  return people
}

const TERMS = '2026-11'

/** With these settings a code signs in, or opens an account for who has an invitation. */
export const creating: Settings = {
  accounts: { password: 'optional', registration: 'invitation', terms: TERMS },
}

/** A code that signs in or opens an account, asked for by somebody who has one and by somebody who has none. */
export async function measureCreating(
  { run, post, code, untilSent }: ParityService,
  samples: number,
): Promise<Map<string, number[]>> {
  const made = JSON.parse(await run('invitations', 'create', '--uses', '1000', '--json'))
  const entry = { create: true, invitation: made.code, terms: TERMS }
  const request = (identifier: string) => post('2fa/request-otp', { identifier, ...entry })
  const enter = async (identifier: string) => {
    await request(identifier)
    const otp = await code(identifier)
    const { status } = await post('2fa/verify', { identifier, otp, ...entry })
    if (status !== 200) throw new Error(`2fa/verify with create: ${status}`)
    return identifier
  }
  const [email, phone] = [await enter(newEmail()), await enter(newPhone())]
  const calls = {
    unknown: () => request(newEmail()),
    'unknown phone': () => request(newPhone()),
    known: () => request(email),
    'known phone': () => request(phone),
  }
  return timeInterleaved(
    Object.entries(calls).map(([name, call]) => ({ name, before: untilSent, call })),
    samples,
  )
}

/** Measures which factor was wrong: each of the three is a class of its own. */
export async function measureFactors(
  { post }: ParityService,
  identifier: string,
  samples: number,
): Promise<Map<string, number[]>> {
  const calls: Record<string, () => Promise<{ status: number }>> = {
    'wrong code': () => post('2fa/verify', { identifier, password: PASSWORD, otp: '000000' }),
    'wrong password': () => post('2fa/verify', { identifier, password: 'not the password', otp: '123456' }),
    'both wrong': () => post('2fa/verify', { identifier, password: 'not the password', otp: '000000' }),
  }
  return timeInterleaved(
    Object.entries(calls).map(([name, call]) => ({ name, call })),
    samples,
  )
}

/** Somebody signed in asks for a contact that nobody has, and for one that somebody else verified. */
export async function measureContactChange(
  { post }: ParityService,
  people: Map<Class, string>,
  samples: number,
): Promise<Map<string, number[]>> {
  const person = { identifier: people.get('confirmed') as string, password: PASSWORD }
  const { access_token } = JSON.parse((await post('login', person)).text) as { access_token: string }
  const change = (email: string) => post('email/change', { email, password: PASSWORD }, access_token)
  return timeInterleaved(
    [
      { name: 'free', call: () => change(newEmail()) },
      { name: 'taken', call: () => change(people.get('two factors') as string) },
    ],
    samples,
  )
}

/** Asking for a code and sending it come before the call, and are not timed. */
export async function measure(
  { post, untilSent }: ParityService,
  { operation, body, codeFrom, takesIdentifier }: TimedOperation,
  people: Map<Class, string>,
  samples: number,
): Promise<Map<string, number[]>> {
  const classes = [...people].map(([name, identifier]) => {
    const next = () => {
      if (!takesIdentifier || !name.startsWith('unknown')) return identifier
      return name === 'unknown' ? newEmail() : newPhone()
    }
    return {
      name,
      before:
        codeFrom === undefined
          ? undefined
          : async () => {
              await post(codeFrom, { identifier })
              await untilSent()
            },
      call: () => post(operation, body(next())),
    }
  })
  return timeInterleaved(classes, samples)
}

/** The same of a form of the pages. */
export const measureForm = (
  { submit }: ParityService,
  { path, fields }: PageForm,
  people: Map<Class, string>,
  samples: number,
): Promise<Map<string, number[]>> =>
  timeInterleaved(
    [...people].map(([name, identifier]) => ({
      name,
      call: () =>
        submit(
          path,
          fields(name === 'unknown' ? newEmail() : name === 'unknown phone' ? newPhone() : identifier),
        ),
    })),
    samples,
  )

interface TimedCall {
  name: string
  before?: (() => Promise<unknown>) | undefined
  call: () => Promise<{ status: number }>
}

/** Milliseconds by class, and one status for all of them, or it throws. Each round takes the classes in a new order. */
async function timeInterleaved(calls: TimedCall[], samples: number): Promise<Map<string, number[]>> {
  const times = new Map(calls.map(({ name }) => [name, [] as number[]]))
  const statuses = new Set<number>()
  let hasRepeated = false
  for (let round = -5; round < samples; round++) {
    const answers = await takeRound(calls)
    // A wrong code is the right one once in a million: one such round may be taken again.
    const isGuessed = answers.filter(({ status }) => status < 300).length === 1
    if (isGuessed && !hasRepeated) {
      hasRepeated = true
      round--
      continue
    }
    for (const { name, status, ms } of answers) {
      statuses.add(status)
      if (round >= 0) times.get(name)?.push(ms)
    }
  }
  if (statuses.size !== 1) throw new Error(`answers differ: ${[...statuses]}`)
  return times
}

async function takeRound(calls: TimedCall[]): Promise<{ name: string; status: number; ms: number }[]> {
  const answers: { name: string; status: number; ms: number }[] = []
  for (const { name, before, call } of shuffled(calls)) {
    await before?.()
    const startedAt = performance.now()
    const { status } = await call()
    answers.push({ name, status, ms: performance.now() - startedAt })
  }
  return answers
}

function shuffled<T>(list: T[]): T[] {
  return list
    .map((value) => ({ value, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

/** The middle of what is left once the slowest and the fastest tenth are gone. */
export function trimmedMedian(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  const cut = Math.floor(sorted.length / 10)
  const kept = sorted.slice(cut, sorted.length - cut)
  return kept[Math.floor(kept.length / 2)] as number
}

/** Milliseconds by which the classes differ at most, and whether that is within 3 ms or 5 %. */
export function spread(times: Map<string, number[]>): { ms: number; alike: boolean } {
  const medians = [...times.values()].map(trimmedMedian)
  const [least, most] = [Math.min(...medians), Math.max(...medians)]
  return { ms: most - least, alike: isAlike(most - least, least) }
}

const isAlike = (apartMs: number, ms: number) => apartMs <= Math.max(3, 0.05 * ms)

/**
 * The same of the middle difference between the calls of one round, which followed each other. A call on a busy machine
 * takes either its own time or that and a time slice. A median falls into one or the other by chance, and the middle
 * difference does not. Whatever a call does more for one class than for another moves both by as much.
 */
export function spreadWithinRounds(times: Map<string, number[]>): { ms: number; alike: boolean } {
  return widest(times, (differences) => Math.abs(trimmedMedian(differences)))
}

/**
 * The same as far as it is certain: the nearest to nothing that the true middle difference may be, by the order of the
 * samples and at three standard deviations. A wrong code path shows here however slow the machine is.
 */
export function certainSpread(times: Map<string, number[]>): { ms: number; alike: boolean } {
  return widest(times, (differences) => {
    const sorted = differences.toSorted((a, b) => a - b)
    const [middle, reach] = [(sorted.length - 1) / 2, 1.5 * Math.sqrt(sorted.length)]
    const low = sorted[Math.max(0, Math.floor(middle - reach))] as number
    const high = sorted[Math.min(sorted.length - 1, Math.ceil(middle + reach))] as number
    return low > 0 || high < 0 ? Math.min(Math.abs(low), Math.abs(high)) : 0
  })
}

function widest(times: Map<string, number[]>, apart: (differences: number[]) => number) {
  const classes = [...times.values()]
  const least = Math.min(...classes.map(trimmedMedian))
  const all = classes.flatMap((one, index) =>
    classes.slice(index + 1).map((other) => apart(one.map((ms, round) => ms - other[round]!))),
  )
  const ms = Math.max(...all)
  return { ms, alike: isAlike(ms, least) }
}

const ROUNDS = 12

/**
 * The times must be alike within 3 ms or 5 %. The machine has other work: before it may fail it is measured again, and
 * all samples count. In the end it fails only for a difference that is greater than what the other work explains.
 */
export async function expectSameTime(take: () => Promise<Map<string, number[]>>): Promise<void> {
  const all = new Map<string, number[]>()
  for (let round = 1; ; round++) {
    for (const [name, times] of await take()) all.set(name, [...(all.get(name) ?? []), ...times])
    const [medians, withinRounds] = [spread(all), spreadWithinRounds(all)]
    if (medians.alike || withinRounds.alike) return
    if (round === ROUNDS && certainSpread(all).alike) return
    if (round === ROUNDS)
      throw new Error(
        `medians ${medians.ms.toFixed(2)} ms apart, ${withinRounds.ms.toFixed(2)} within the rounds`,
      )
  }
}
