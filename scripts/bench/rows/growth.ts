/** Login latency with 1,000, 100,000 and 1,000,000 accounts, one client, interleaved. */
import { emailOf, PASSWORD } from '../accounts.ts'
import type { Bench, MeasuredPoterne } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import { post } from '../traffic.ts'

const SMALL = 1000
const SPREAD = 1000

export const growthRow: Row = {
  name: 'growth',
  /** A million rows take half a minute to write: only the full run does. */
  async measure(bench: Bench) {
    const small = await bench.startPoterne({ accounts: SMALL })
    const lines: Line[] = []
    for (const accounts of bench.quick ? [100_000] : [100_000, 1_000_000])
      lines.push(await compare(bench, small, accounts))
    await small.stop()
    return lines
  },
}

async function compare(bench: Bench, small: MeasuredPoterne, accounts: number): Promise<Line> {
  const big = await bench.startPoterne({ accounts })
  const median = async ({ url }: MeasuredPoterne, among: number) => {
    const load = { url, traffic: loginsAmong(among), connections: 1, seconds: bench.seconds }
    return requireStatuses(await bench.load(load), [200], 'login').byStatus['200']!.p50Ms
  }
  const line = await compareInRounds(bench, {
    row: 'growth',
    what: `login latency with ${accounts.toLocaleString('en')} accounts (p50)`,
    rival: `with ${SMALL.toLocaleString('en')}`,
    ours: () => median(big, accounts),
    theirs: () => median(small, SMALL),
    goal: { atMost: 1.2 },
    unit: 'ms',
  })
  await big.stop()
  return line
}

/** Accounts from all over the table, in no order. */
function loginsAmong(accounts: number): Traffic {
  const any = () => emailOf(1 + Math.floor(Math.random() * accounts))
  const requests = Array.from({ length: SPREAD }, () =>
    post('login', { identifier: any(), password: PASSWORD }),
  )
  return { kind: 'requests', requests, cyclic: true }
}
