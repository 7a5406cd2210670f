/** Logins a second against Better Auth, with its own hash and with ours. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import { startBetterAuth } from '../rivals.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import { betterAuthLogins, logins } from '../traffic.ts'

const ACCOUNTS = 1000
const goals = { default: 4, argon2id: 2 } as const
const names = { default: 'with its default hash (scrypt)', argon2id: 'with our hash' } as const

export const loginsRivalRow: Row = {
  name: 'logins-rival',
  async measure(bench: Bench) {
    const lines: Line[] = []
    for (const hash of ['default', 'argon2id'] as const) lines.push(await measureAgainst(bench, hash))
    return lines
  },
}

async function measureAgainst(bench: Bench, hash: 'default' | 'argon2id'): Promise<Line> {
  const poterne = await bench.startPoterne({ accounts: ACCOUNTS })
  const rival = await startBetterAuth(bench, { hash, accounts: ACCOUNTS })
  // So many, not so long: Better Auth answers in waves, as many at a time as there are clients.
  const amount = CLIENTS * (bench.quick ? 2 : 8)
  const rate = async (url: string, traffic: Traffic) => {
    const result = await bench.load({ url, traffic, connections: CLIENTS, seconds: 0, amount })
    return requireStatuses(result, [200], 'login').rate
  }
  const line = await compareInRounds(bench, {
    row: 'logins-rival',
    what: `logins, ${CLIENTS} clients, ${names[hash]}`,
    rival: 'Better Auth 1.7.0',
    rounds: Math.ceil(bench.rounds / 2),
    ours: () => rate(poterne.url, logins(ACCOUNTS)),
    theirs: () => rate(rival.url, betterAuthLogins(ACCOUNTS)),
    goal: { atLeast: goals[hash] },
  })
  await Promise.all([poterne.stop(), rival.end()])
  return line
}
