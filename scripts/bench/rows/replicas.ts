/** Two replicas on the same stores behind HAProxy: what holds across both, and what they do together. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../test/helpers/free-port.ts'
import { newDirectory } from '../../../test/helpers/run-directory.ts'
import { addWaiting, emailOf, PASSWORD } from '../accounts.ts'
import { type Bench, CLIENTS, type MeasuredPoterne, mergeSettings } from '../bench.ts'
import { startServer } from '../children.ts'
import { requireStatuses } from '../load.ts'
import { startPoterne, untilReady } from '../poterne.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import { logins, openSessions, refreshes, strangersLogin } from '../traffic.ts'

const ACCOUNTS = 1000

export const replicasRow: Row = {
  name: 'replicas',
  async measure(bench: Bench) {
    if (Bun.which('haproxy') === null) throw new Error('haproxy is not installed: apt-get install haproxy')
    const first = await bench.startPoterne({ accounts: ACCOUNTS })
    const { executable, settings } = { executable: await bench.executable(), settings: first.settings }
    const { storage: _own, ...shared } = settings
    const second = await startPoterne({ executable, settings: shared })
    const proxy = await startProxy([first.url, second.url])
    const one = await startProxy([first.url])
    const lines = [
      await compare(bench, 'logins', proxy.url, one.url),
      await compare(bench, 'refreshes', proxy.url, one.url),
      await holdTogether(bench, first, second.url),
    ]
    await Promise.all([first.stop(), second.stop(), proxy.end(), one.end()])
    return lines
  },
}

/** Each request to the next replica in turn. */
async function startProxy(replicas: string[]) {
  const directory = newDirectory('haproxy')
  const port = await freePort()
  const servers = replicas.map((url, index) => `  server replica${index} ${new URL(url).host}`)
  const file = join(directory, 'haproxy.cfg')
  const config = [
    'defaults',
    '  mode http',
    '  option http-keep-alive',
    '  timeout connect 5s',
    '  timeout client 60s',
    '  timeout server 60s',
    'frontend all',
    `  bind 127.0.0.1:${port}`,
    '  default_backend replicas',
    'backend replicas',
    '  balance roundrobin',
    '  http-reuse always',
    ...servers,
  ]
  writeFileSync(file, `${config.join('\n')}\n`)
  const server = startServer(['haproxy', '-db', '-f', file], { directory })
  const url = `http://127.0.0.1:${port}`
  await untilReady(url, server)
  return { url, end: server.end }
}

async function compare(bench: Bench, what: 'logins' | 'refreshes', two: string, one: string): Promise<Line> {
  const rate = async (url: string) => {
    const tokens = what === 'refreshes' ? await openSessions(url, CLIENTS) : []
    const traffic =
      what === 'logins' ? logins(ACCOUNTS) : refreshes(tokens.map(({ refresh_token }) => refresh_token))
    const load = { url, traffic, connections: CLIENTS, seconds: bench.seconds + 1, lastly: strangersLogin }
    return requireStatuses(await bench.load(load), [200], what).rate
  }
  return compareInRounds(bench, {
    row: 'replicas',
    what: `${what}, two replicas together`,
    rival: 'one replica',
    rounds: Math.ceil(bench.rounds / 2),
    ours: () => rate(two),
    theirs: () => rate(one),
  })
}

/** A session, a code and a limit of one replica, at the other one. */
async function holdTogether(bench: Bench, first: MeasuredPoterne, secondUrl: string): Promise<Line> {
  const call = (url: string, operation: string, body: unknown) =>
    fetch(`${url}/api/v1/auth/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const [tokens] = await openSessions(first.url, 1)
  const refreshed = await call(secondUrl, 'refresh', { refresh_token: tokens!.refresh_token })
  const [waiting] = await addWaiting(first, { count: 1 })
  const taken = await Promise.all(
    Array.from({ length: 32 }, (_, n) =>
      call(n % 2 === 0 ? first.url : secondUrl, 'verify-account', waiting),
    ),
  )
  const limited = await countAdmitted(bench, first)
  const holds = {
    session: refreshed.status === 200,
    'one code, 32 callers': taken.filter(({ status }) => status === 201).length === 1,
    'login limit': limited === LIMIT,
  }
  const broken = Object.entries(holds).filter(([, held]) => !held)
  return {
    row: 'replicas',
    what: 'sessions, codes and limits hold across two replicas',
    rival: 'broken',
    ours: `${Object.keys(holds).length - broken.length} of ${Object.keys(holds).length}`,
    theirs: broken.map(([name]) => name).join(', ') || 'none',
    ratio: null,
    goal: 'all',
    met: broken.length === 0,
  }
}

const LIMIT = 10

/**
 * Counts the logins of one address, out of 40, that two replicas with limits let through: `LIMIT`, if they count
 * together.
 */
async function countAdmitted(bench: Bench, first: MeasuredPoterne): Promise<number> {
  const { storage: _own, ...shared } = first.settings
  const settings = mergeSettings(shared, { limits: { enabled: true, logins_per_minute: LIMIT } })
  const executable = await bench.executable()
  const replicas = [
    await startPoterne({ executable, settings }),
    await startPoterne({ executable, settings }),
  ]
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      fetch(`${replicas[n % 2]!.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identifier: emailOf(n + 1), password: PASSWORD }),
      }),
    ),
  )
  await Promise.all(replicas.map((replica) => replica.stop()))
  return answers.filter(({ status }) => status === 200).length
}
