/** Two replicas on the same stores behind HAProxy: what holds across both, and what they do together. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../../../test/helpers/api-client.ts'
import { freePort } from '../../../test/helpers/free-port.ts'
import { newDirectory } from '../../../test/helpers/run-directory.ts'
import { addWaiting } from '../accounts.ts'
import { type Bench, CLIENTS, mergeSettings, type Poterne } from '../bench.ts'
import { compare, type Line } from '../compare.ts'
import { startServer } from '../server.ts'
import { apiOf, login, logins, refreshes, type Traffic } from '../traffic.ts'

const ACCOUNTS = 1000

/** Each request to the next replica in turn. */
async function startProxy(...replicas: string[]): Promise<string> {
  if (Bun.which('haproxy') === null) throw new Error('haproxy is not installed: apt-get install haproxy')
  const [directory, port] = [newDirectory('haproxy'), await freePort()]
  const file = join(directory, 'haproxy.cfg')
  const config = `
defaults
  mode http
  option http-keep-alive
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend all
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance roundrobin
  http-reuse always
${replicas.map((url, index) => `  server replica${index} ${new URL(url).host}`).join('\n')}
`
  writeFileSync(file, config)
  return (await startServer(['haproxy', '-db', '-f', file], port, { directory })).url
}

const LIMIT = 10

/** A session, a code and a limit of one replica, at the other one. */
async function holdTogether(bench: Bench, first: Poterne, secondUrl: string): Promise<Line> {
  const [one, other] = [apiOf(first.url), apiOf(secondUrl)]
  const { refresh_token } = await one.logIn(login(1))
  const [waiting] = await addWaiting(first, { count: 1 })
  const settings = mergeSettings(first.settings, { limits: { enabled: true, logins_per_minute: LIMIT } })
  const limited = [apiOf((await bench.start(settings)).url), apiOf((await bench.start(settings)).url)]
  /** The answers with this status of so many calls at once, which alternate. */
  const count = async (calls: number, status: number, send: (n: number) => Promise<Answer>) => {
    const answers = await Promise.all(Array.from({ length: calls }, (_, n) => send(n)))
    return answers.filter((answer) => answer.status === status).length
  }
  const confirm = (n: number) => (n % 2 ? one : other).post('verify-account', waiting)
  const holds = {
    session: (await other.post('refresh', { refresh_token })).status === 200,
    'one code, 32 callers': (await count(32, 201, confirm)) === 1,
    // All from one address.
    'login limit': (await count(40, 200, (n) => limited[n % 2]!.post('login', login(n + 1)))) === LIMIT,
  }
  const broken = Object.entries(holds).filter(([, held]) => !held)
  const all = Object.keys(holds).length
  return {
    what: 'sessions, codes and limits hold across two replicas',
    rival: 'broken',
    ours: `${all - broken.length} of ${all}`,
    theirs: broken.map(([name]) => name).join(', ') || 'none',
    ratio: null,
    goal: 'all',
    met: broken.length === 0,
  }
}

export async function measureReplicas(bench: Bench) {
  const first = await bench.startPoterne({ accounts: ACCOUNTS })
  const second = await bench.start(first.settings)
  const [two, one] = [await startProxy(first.url, second.url), await startProxy(first.url)]
  const together = (what: string, traffic: (url: string) => Traffic | Promise<Traffic>) => {
    const rate = async (url: string) => bench.rate(url, await traffic(url), { seconds: bench.seconds + 1 })
    return compare(bench, {
      ...{ what: `${what}, two replicas together`, rival: 'one replica', rounds: bench.rounds / 2 },
      ours: () => rate(two),
      theirs: () => rate(one),
    })
  }
  return [
    await together('logins', () => logins(ACCOUNTS)),
    await together('refreshes', (url) => refreshes(url, CLIENTS)),
    await holdTogether(bench, first, second.url),
  ]
}
