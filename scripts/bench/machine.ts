/** The machine and the programs that the numbers were measured on. */
import { cpus, release, totalmem } from 'node:os'
import { resolve } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

export interface Machine {
  processors: number
  model: string
  memoryGib: number
  kernel: string
  versions: Record<string, string>
}

export async function describeMachine(): Promise<Machine> {
  const all = cpus()
  return {
    processors: all.length,
    model: all[0]?.model ?? 'unknown',
    memoryGib: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    kernel: numberIn(release()),
    versions: {
      poterne: `${manifest.version} (${await firstLine(['git', 'rev-parse', '--short', 'HEAD'])})`,
      bun: Bun.version,
      elysia: manifest.dependencies.elysia,
      'better-auth': manifest.devDependencies['better-auth'],
      autocannon: manifest.devDependencies.autocannon,
      postgresql: numberIn(await firstLine(['psql', '--version'])),
      redis: numberIn(await firstLine(['redis-server', '--version'])),
      haproxy: numberIn(await firstLine(['haproxy', '-v'])),
      wrk: numberIn(await firstLine(['wrk', '-v'])),
    },
  }
}

const numberIn = (text: string) => /\d+(\.\d+)+/.exec(text)?.[0] ?? text

/** Returns the first line that a program prints; `-` where it is not installed. */
async function firstLine(command: string[]): Promise<string> {
  if (Bun.which(command[0] as string) === null) return '-'
  const child = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'ignore',
    cwd: resolve(import.meta.dir, '../..'),
  })
  const text = await new Response(child.stdout).text()
  return text.split('\n')[0]?.trim() || '-'
}
