/** What the executable takes: memory, time to start, time of a login as accounts become many, and place on the disk. */
import { statSync } from 'node:fs'
import type { Bench } from '../bench.ts'
import { compare, difference, median } from '../compare.ts'
import { compileRival } from '../executables.ts'
import { watchMemory } from '../resident.ts'
import { startCompiled } from '../rivals.ts'
import type { Server } from '../server.ts'
import { logins, loginsOf } from '../traffic.ts'

const PARALLEL = 500

/** Resident memory at 500 parallel logins, against that of the same process before. */
export async function measureMemory(bench: Bench) {
  const { line } = await watchMemory(bench, ({ url }) => {
    // Each waits the second that a refusal asks for.
    const load = { connections: PARALLEL, rate: PARALLEL, seconds: bench.quick ? 5 : 15 }
    return bench.load(url, { ...logins(1000), status: null }, load)
  })
  return line(`memory, ${PARALLEL} parallel logins`, 60)
}

/** The time from starting the process to its first 200 on /readyz, against a bare Elysia executable. */
async function compareStarts(bench: Bench, shape: string, limit: number, start: () => Promise<Server>) {
  const startMs = async (server: Server) => {
    await server.end()
    return server.readyMs
  }
  const [ours, theirs, more]: number[][] = [[], [], []]
  // The first start is not measured: the executables come from the disk, and the database gets its tables.
  for (let turn = -1; turn < bench.rounds * 2; turn++) {
    const [a, b] = [await startMs(await start()), await startMs(await startCompiled('bare-elysia'))]
    if (turn < 0) continue
    ours!.push(a)
    theirs!.push(b)
    more!.push(a - b)
    bench.progress(`  ${a.toFixed(0)} ms (${shape}), bare ${b.toFixed(0)} ms`)
  }
  return difference({
    ...{ what: `start to the first 200 on /readyz, ${shape}`, rival: 'bare Elysia', unit: 'ms', limit },
    ...{ ours: median(ours!), theirs: median(theirs!), more: median(more!) },
    note: (said) => `${shape}: ${said}`,
  })
}

export async function measureServersStart(bench: Bench) {
  const stores = await bench.newStores()
  return compareStarts(bench, 'servers', 200, () => bench.start(stores))
}

/** In an empty directory each time: the first start, the longest. */
export const measureEmbeddedStart = (bench: Bench) =>
  compareStarts(bench, 'embedded, first start', 700, () => bench.start({}))

const FEW = 1000

/** The latency of a login with many accounts and with 1,000, one client. */
export const measureGrowth = (accounts: number) => async (bench: Bench) => {
  // A million rows take half a minute to write.
  if (bench.quick && accounts > 100_000) return []
  const few = await bench.startPoterne({ accounts: FEW })
  const many = await bench.startPoterne({ accounts })
  const p50 = async (url: string, among: number) => {
    // From all over the table, in no order.
    const spread = Array.from({ length: 1000 }, () => 1 + Math.floor(Math.random() * among))
    return (await bench.load(url, loginsOf(spread), { connections: 1 })).byStatus['200']!.p50Ms
  }
  return compare(bench, {
    what: `login latency with ${accounts.toLocaleString('en')} accounts (p50)`,
    ...{ rival: `with ${FEW.toLocaleString('en')}`, atMost: 1.2, unit: 'ms' },
    ours: () => p50(many.url, accounts),
    theirs: () => p50(few.url, FEW),
  })
}

/** The size of the executable, against a bare Elysia executable. */
export async function measureSize(bench: Bench) {
  const megabytes = (file: string) => statSync(file).size / 1e6
  const [ours, theirs] = [await bench.executable(), await compileRival('bare-elysia')].map(megabytes)
  return difference({
    what: 'executable',
    rival: 'bare Elysia',
    ours: ours!,
    theirs: theirs!,
    unit: 'MB',
    limit: 25,
  })
}
