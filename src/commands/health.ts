/** `poterne health`: asks the service that runs under the same configuration whether it lives; for health checks. */
import { get } from 'node:http'
import { Command } from 'commander'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'

/** Shorter than the time that container engines and load balancers give a check. */
const TIMEOUT_MS = 2000

export function healthCommand(): Command {
  return new Command('health')
    .description('say whether the service that runs under this configuration lives (exit code 0) or not (1)')
    .option(...configOption)
    .action(checkHealth)
}

async function checkHealth(options: CommandOptions): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const url = `http://${reachableHost(config.server.host)}:${config.server.port}/healthz`
  const status = await askStatus(url)
  if (status !== 200)
    throw new CommandFailure(1, `${url} ${status === null ? 'does not answer' : `says ${status}`}`)
  process.stdout.write(`${url} lives\n`)
}

/** Null: no answer in time. By node:http, since fetch would go through the proxy that the environment names. */
function askStatus(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    const asked = get(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? null)
    })
    asked.on('error', () => resolve(null))
  })
}

/** "All addresses" is no address to ask; an IPv6 one stands in brackets in a URL. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
