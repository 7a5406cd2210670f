/**
 * Better Auth on Bun with PostgreSQL, as its documentation sets it up: e-mail and password, sessions in the
 * database, its own schema. Its rate limit is off, as poterne's is. HASH=argon2id: our hash in the place of its own.
 */
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { Pool } from 'pg'
import { hashSettings } from '../accounts.ts'

const { PORT, DATABASE_URL, HASH } = process.env
const argon2id = {
  hash: (password: string) => Bun.password.hash(password, hashSettings),
  verify: ({ hash, password }: { hash: string; password: string }) => Bun.password.verify(password, hash),
}
const options = {
  database: new Pool({ connectionString: DATABASE_URL, max: 10 }),
  secret: 'cd'.repeat(32),
  baseURL: `http://127.0.0.1:${PORT}`,
  emailAndPassword: { enabled: true, ...(HASH === 'argon2id' && { password: argon2id }) },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
}
await (await getMigrations(options)).runMigrations()
const auth = betterAuth(options)

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(PORT),
  routes: { '/readyz': new Response('ok') },
  fetch: auth.handler,
})
