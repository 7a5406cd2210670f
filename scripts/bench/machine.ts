/** The machine and the programs that the numbers were measured on. */
import { cpus, release, totalmem } from 'node:os'
import manifest from '../../package.json' with { type: 'json' }
import { run } from '../lib/shell.ts'

export type Machine = ReturnType<typeof describeMachine>

export function describeMachine() {
  return {
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    kernel: numberIn(release()),
    versions: {
      poterne: `${manifest.version} (${run(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir }).trim()})`,
      bun: Bun.version,
      elysia: manifest.dependencies.elysia,
      'better-auth': manifest.devDependencies['better-auth'],
      postgresql: printed('psql', '--version'),
      redis: printed('redis-server', '--version'),
      haproxy: printed('haproxy', '-v'),
      wrk: printed('wrk', '-v'),
    },
  }
}

const numberIn = (text: string) => /\d+(\.\d+)+/.exec(text)?.[0] ?? text

/** The version that a program prints; `-` where it is not installed. wrk says it beside an error. */
const printed = (...command: [string, string]) =>
  Bun.which(command[0]) === null ? '-' : numberIn(Bun.spawnSync(command).stdout.toString())
