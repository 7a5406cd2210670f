/** `poterne health`: checks whether the service with the same configuration is running; for health checks. */
import { get } from 'node:http'
import { Command } from 'commander'
import type { Config } from '../../platform/config/types.ts'
import { parseDuration } from '../../platform/duration.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import type { CommonOptions } from './option-values.ts'
import { print, printJson } from './print.ts'

/** Shorter than the timeout of container engines and load balancers. */
const TIMEOUT_MS = 2000

export function healthCommand(): Command {
  return new Command('health')
    .description('check whether the service with this configuration is running (exit code 0) or not (1)')
    .option(...configOption)
    .option('--wait <duration>', 'try again for so long until it runs, such as 20s', waitOf)
    .action(checkHealth)
}

const LONGEST_WAIT_MS = 10 * 60_000
const AGAIN_MS = 200

function waitOf(text: string): number {
  const ms = parseDuration(text) ?? 0
  if (ms >= 1000 && ms <= LONGEST_WAIT_MS) return ms
  throw new CommandFailure(2, `--wait must be a duration from 1s to 10m, such as 20s, not ${text}`)
}

interface HealthOptions extends CommandOptions, CommonOptions {
  /** In milliseconds. */
  wait?: number
}

async function checkHealth({ json, wait = 0, ...options }: HealthOptions): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const url = urlOf(config, '/healthz')
  const until = performance.now() + wait
  let status = await askStatus(url)
  while (status !== 200 && performance.now() < until) {
    await Bun.sleep(AGAIN_MS)
    status = await askStatus(url)
  }
  const isAlive = status === 200
  if (json) printJson({ url, status, alive: isAlive })
  if (!isAlive)
    throw new CommandFailure(
      1,
      json ? '' : `${url} ${status === null ? 'does not answer' : `says ${status}`}`,
    )
  if (!json) print(`${url} answers\n`)
}

/** The address at which this machine reaches the service. */
export const urlOf = ({ server }: Pick<Config, 'server'>, path: string) =>
  `http://${reachableHost(server.host)}:${server.port}${path}`

/**
 * It returns null if there is no answer in time. Uses node:http, because fetch would use the proxy of the environment.
 */
export function askStatus(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    const asked = get(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? null)
    })
    asked.on('error', () => resolve(null))
  })
}

/** Nobody can connect to "all addresses", so loopback is used instead; an IPv6 address needs brackets in a URL. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
