/** Starts the rivals, each a process of its own on the servers that poterne uses. */
import { join } from 'node:path'
import { freePort } from '../../test/helpers/free-port.ts'
import { emailOf, onDatabase, PASSWORD } from './accounts.ts'
import type { Bench } from './bench.ts'
import { type Child, startChild, startServer } from './children.ts'
import { compileRival } from './executables.ts'
import { untilReady } from './poterne.ts'
import type { HashQuestion } from './rivals/argon2.ts'
import type { StoresQuestion } from './rivals/stores.ts'

const script = (name: string) => join(import.meta.dir, 'rivals', `${name}.ts`)

export interface RawHashes {
  /** A second. */
  rate(question: HashQuestion): Promise<number>
  end(): Promise<void>
}

export async function startRawHashes(): Promise<RawHashes> {
  const child = await startChild([process.execPath, script('argon2')])
  return { rate: (question) => child.ask<number>(question), end: child.end }
}

export interface BareStores {
  /** Operations of so many trips, a second. */
  rate(question: StoresQuestion): Promise<number>
  end(): Promise<void>
}

export async function startBareStores(bench: Bench): Promise<BareStores> {
  const { newDatabase, redis } = await bench.stores()
  const env = { DATABASE_URL: await newDatabase(), REDIS_URL: redis.url }
  const child: Child = await startChild([process.execPath, script('stores')], { env })
  return { rate: (question) => child.ask<number>(question), end: child.end }
}

export interface RivalServer {
  url: string
  pid: number
  end(): Promise<void>
}

/** An executable of rivals/, listening. */
export async function startRivalExecutable(name: string, env: Record<string, string>): Promise<RivalServer> {
  return listen([await compileRival(name)], env)
}

async function listen(command: string[], env: Record<string, string>): Promise<RivalServer> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = startServer(command, { env: { NODE_ENV: 'production', ...env, PORT: String(port) } })
  await untilReady(url, server)
  return { url, pid: server.pid, end: server.end }
}

/** Starts Better Auth with so many accounts, all with `PASSWORD`. */
export async function startBetterAuth(
  bench: Bench,
  { hash, accounts }: { hash: 'default' | 'argon2id'; accounts: number },
): Promise<RivalServer> {
  const { newDatabase } = await bench.stores()
  const databaseUrl = await newDatabase()
  const server = await listen([process.execPath, script('better-auth')], {
    DATABASE_URL: databaseUrl,
    HASH: hash,
  })
  const answer = await fetch(`${server.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Person', email: emailOf(1), password: PASSWORD }),
  })
  if (!answer.ok) throw new Error(`Better Auth: sign-up answered ${answer.status}`)
  await onDatabase(databaseUrl, async (sql) => {
    // Whole rows, whatever columns there are, but for what tells them apart.
    await sql`
      insert into "user"
      select copy.* from "user" first, generate_series(2, ${accounts}::int) n,
             jsonb_populate_record(first, jsonb_build_object(
               'id', 'copy-' || n, 'email', 'person-' || n || '@bench.example')) copy`
    await sql`
      insert into account
      select copy.* from account first, generate_series(2, ${accounts}::int) n,
             jsonb_populate_record(first, jsonb_build_object(
               'id', 'copy-' || n, 'accountId', 'copy-' || n, 'userId', 'copy-' || n)) copy`
    await sql`analyze "user"`
    await sql`analyze account`
  })
  return server
}

/** Starts `oidc-provider` on Node with one application. */
export async function startOidcProvider(bench: Bench, client: Record<string, unknown>): Promise<RivalServer> {
  if (Bun.which('node') === null) throw new Error('node is not installed: apt-get install nodejs')
  const { newDatabase } = await bench.stores()
  const env = { DATABASE_URL: await newDatabase(), CLIENT: JSON.stringify(client) }
  return listen(['node', join(import.meta.dir, 'rivals/oidc-provider.mjs')], env)
}
