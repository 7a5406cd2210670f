/**
 * Tells one webhook of the events in a process of its own, to be killed: `bun webhook-process.ts DATABASE_URL HOOK_URL
 * SECRET`. It says "telling" on standard output once it runs.
 */
import { openServer } from '../../src/platform/postgres/server.ts'
import { startTeller } from './webhook-teller.ts'

const [databaseUrl, url, secret] = process.argv.slice(2) as [string, string, string]
await startTeller(openServer({ url: databaseUrl, poolSize: 4 }), { url, secret })
console.log('telling')
