/** Measures the time from starting the process to its first 200 on /readyz, against a bare Elysia executable. */
import { freePort } from '../../../test/helpers/free-port.ts'
import type { Bench } from '../bench.ts'
import { startServer } from '../children.ts'
import { compileRival } from '../executables.ts'
import { loadSettings, type Settings, startPoterne } from '../poterne.ts'
import { median, runRounds } from '../rounds.ts'
import { type Line, type Row, round } from '../row.ts'

export const startRow: Row = {
  name: 'start',
  async measure(bench: Bench) {
    const { newDatabase, redis } = await bench.stores()
    const base = loadSettings((await bench.smtp()).port)
    const database = { url: await newDatabase() }
    const servers = {
      ...base,
      database,
      redis: { url: redis.url, key_prefix: `bench-${crypto.randomUUID()}:` },
    }
    return [
      await line(bench, 'servers', 200, () => servers),
      // An empty directory each time: the first start, the longest.
      await line(bench, 'embedded, first start', 700, () => base),
    ]
  },
}

async function line(bench: Bench, shape: string, limitMs: number, settings: () => Settings): Promise<Line> {
  const executable = await bench.executable()
  const bare = await compileRival('bare-elysia')
  const ours = async () => {
    const { startedAt, url, stop } = await startPoterne({ executable, settings: settings(), unready: true })
    const ms = await untilAnswer(url, startedAt)
    await stop()
    return ms
  }
  const theirs = async () => {
    const port = await freePort()
    const startedAt = performance.now()
    const server = startServer([bare], { env: { PORT: String(port) } })
    const ms = await untilAnswer(`http://127.0.0.1:${port}`, startedAt)
    await server.end()
    return ms
  }
  // The first start is not measured: the executables come from the disk, and the database gets its tables.
  await ours()
  await theirs()
  const series = await runRounds({
    rounds: bench.rounds * 2,
    ours,
    theirs,
    onRound: (a, b) => bench.progress(`  ${a.toFixed(0)} ms (${shape}), bare ${b.toFixed(0)} ms`),
  })
  const more = median(series.ours.map((ms, turn) => ms - series.theirs[turn]!))
  return {
    row: 'start',
    what: `start to the first 200 on /readyz, ${shape}`,
    rival: 'bare Elysia',
    ours: `${round(median(series.ours))} ms`,
    theirs: `${round(median(series.theirs))} ms`,
    ratio: null,
    goal: `≤ + ${limitMs} ms`,
    met: more <= limitMs,
    notes: [`${shape}: + ${round(more)} ms`],
  }
}

/** Milliseconds since `startedAt` when the first 200 had come; asked every 2 ms. */
async function untilAnswer(url: string, startedAt: number): Promise<number> {
  for (;;) {
    try {
      const answer = await fetch(`${url}/readyz`)
      await answer.bytes()
      if (answer.ok) return performance.now() - startedAt
    } catch {}
    if (performance.now() - startedAt > 30_000) throw new Error(`${url} does not become ready`)
    await Bun.sleep(2)
  }
}
