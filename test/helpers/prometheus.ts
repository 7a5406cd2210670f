/** A real Prometheus (Debian package `prometheus`) that scrapes one address every second, and promtool. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { newDirectory } from './run-directory.ts'
import { waitFor } from './wait.ts'

export interface Prometheus {
  /** The values of an expression now, each with its labels. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>
  close(): Promise<void>
}

/** Resolves after the first scrape that succeeded. Throws what Prometheus says of a scrape that fails. */
export async function startPrometheus(target: string, ruleFile: string): Promise<Prometheus> {
  const directory = newDirectory('prometheus')
  const port = await freePort()
  const config = `
global: { scrape_interval: 1s, scrape_timeout: 900ms }
rule_files: [${JSON.stringify(ruleFile)}]
scrape_configs:
  - job_name: poterne
    static_configs: [{ targets: [${JSON.stringify(target)}] }]
`
  writeFileSync(join(directory, 'prometheus.yml'), config)
  const server = Bun.spawn(
    [
      'prometheus',
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { cwd: directory, stdout: 'ignore', stderr: 'ignore' },
  )
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    // biome-ignore lint/suspicious/noExplicitAny: as Prometheus answers
    return (await answer.json()) as { status: string; data: any; error?: string }
  }
  const isScraped = async () => {
    const [found] = (await ask('targets').catch(() => null))?.data.activeTargets ?? []
    if (found?.health === 'down') throw new Error(`Prometheus: ${found.lastError}`)
    return found?.health === 'up'
  }
  try {
    await waitFor(isScraped, { what: 'the first scrape', timeoutMs: 20_000, intervalMs: 100 })
  } catch (error) {
    server.kill()
    throw error
  }
  return {
    async query(expression) {
      const { status, data, error } = await ask(`query?query=${encodeURIComponent(expression)}`)
      if (status !== 'success') throw new Error(`${expression}: ${error}`)
      return data.result.map(
        ({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => ({
          labels: metric,
          value: Number(value[1]),
        }),
      )
    },
    async close() {
      server.kill()
      await server.exited
    },
  }
}

/** Returns the output of promtool; empty where it finds nothing. */
export async function promtool(args: string[], input = ''): Promise<{ code: number; said: string }> {
  const tool = Bun.spawn(['promtool', ...args], {
    stdin: new TextEncoder().encode(input),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error, code] = await Promise.all([
    new Response(tool.stdout).text(),
    new Response(tool.stderr).text(),
    tool.exited,
  ])
  return { code, said: out + error }
}
