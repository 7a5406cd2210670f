/** The rivals, each a process of its own on the servers that poterne uses. */
import { join } from 'node:path'
import { PASSWORD } from '../../test/helpers/api-client.ts'
import { freePort } from '../../test/helpers/free-port.ts'
import { emailOf, onDatabase } from './accounts.ts'
import type { Bench } from './bench.ts'
import { compileRival } from './executables.ts'
import { startServer } from './server.ts'
import type { Traffic } from './traffic.ts'

export async function startRival(command: string[], env: Record<string, string> = {}) {
  const port = await freePort()
  return startServer(command, port, { env: { NODE_ENV: 'production', ...env, PORT: String(port) } })
}

/** An executable of rivals/. */
export const startCompiled = async (name: string, env?: Record<string, string>) =>
  startRival([await compileRival(name)], env)

const signInPath = '/api/auth/sign-in/email'
const signIn = (number: number) => ({ email: emailOf(number), password: PASSWORD })

const send = (url: string, path: string, body: object) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Starts Better Auth with so many accounts, all with `PASSWORD`. */
export async function startBetterAuth(bench: Bench, hash: 'default' | 'argon2id', accounts: number) {
  const databaseUrl = await bench.newDatabase()
  const script = join(import.meta.dir, 'rivals/better-auth.ts')
  const server = await startRival([process.execPath, script], { DATABASE_URL: databaseUrl, HASH: hash })
  const answer = await send(server.url, '/api/auth/sign-up/email', { name: 'Person', ...signIn(1) })
  if (!answer.ok) throw new Error(`Better Auth: sign-up answered ${answer.status}`)
  // Whole rows, whatever columns there are, but for what tells them apart.
  const copies = (table: string, own: string) => `
    insert into ${table}
    select copy.* from ${table} first, generate_series(2, ${accounts}) n,
           jsonb_populate_record(first, jsonb_build_object('id', 'copy-' || n, ${own})) copy;
    analyze ${table};`
  await onDatabase(databaseUrl, (sql) =>
    sql.unsafe(
      copies('"user"', `'email', 'person-' || n || '@bench.example'`) +
        copies('account', `'accountId', 'copy-' || n, 'userId', 'copy-' || n`),
    ),
  )
  return server
}

export const betterAuthLogins = (accounts: number): Traffic => ({
  requests: Array.from({ length: accounts }, (_, n) => ({
    method: 'POST',
    path: signInPath,
    body: signIn(n + 1),
  })),
})

/** Better Auth's reading of sessions, of the first accounts, by cookie. */
export async function betterAuthSessionReads(url: string, count: number): Promise<Traffic> {
  const requests: Traffic['requests'] = []
  for (let n = 1; n <= count; n++) {
    const answer = await send(url, signInPath, signIn(n))
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]
    if (cookie === undefined) throw new Error(`Better Auth: sign-in answered ${answer.status}`)
    requests.push({ method: 'GET', path: '/api/auth/get-session', headers: { cookie } })
  }
  return { requests }
}
