/** Sign-ins on the page beside logins by the JSON interface: with the shipped hash, and with one that costs nothing. */
import { join } from 'node:path'
import { type Bench, CLIENTS } from '../bench.ts'
import { startChild } from '../children.ts'
import type { SignInQuestion } from '../page-sign-in-process.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'

/** So few that the warm-up knows the browser of each. */
const ACCOUNTS = 256
const HOME = 'https://app.bench/'

export const pageSignInRow: Row = {
  name: 'page-sign-in',
  measure: async (bench) => [await compare(bench, false), await compare(bench, true)],
}

async function compare(bench: Bench, cheapPasswords: boolean): Promise<Line> {
  const settings = { pages: { enabled: true, home: HOME } }
  const poterne = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords, settings })
  const child = await startChild([process.execPath, join(import.meta.dir, '../page-sign-in-process.ts')])
  const signIns = (way: SignInQuestion['way'], seconds = bench.seconds) => {
    const place = { url: poterne.url, host: 'auth.bench', home: HOME }
    const question: SignInQuestion = { ...place, way, accounts: ACCOUNTS, browsers: CLIENTS, seconds }
    return child.ask<number>(question)
  }
  for (const way of ['page', 'json'] as const) await signIns(way, bench.warmupSeconds)
  const hash = cheapPasswords ? 'with a hash that costs nothing' : 'with the shipped hash'
  const line = await compareInRounds(bench, {
    row: 'page-sign-in',
    what: `sign-ins on the page (form, post, /leave) by known browsers, ${CLIENTS} at once, ${hash}`,
    rival: 'logins by the JSON interface',
    ours: () => signIns('page'),
    theirs: () => signIns('json'),
    goal: cheapPasswords ? {} : { atLeast: 0.9 },
  })
  await Promise.all([poterne.stop(), child.end()])
  return line
}
