/** Running a program of the machine in a script, and failing with its own words. */

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
}

/** Returns what it prints. */
export function run(command: string[], { cwd, env }: RunOptions = {}): string {
  const child = Bun.spawnSync(command, {
    ...(cwd && { cwd }),
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  if (child.exitCode === 0) return child.stdout.toString()
  throw new Error(`${command.join(' ')} failed:\n${child.stderr.toString()}${child.stdout.toString()}`)
}

/** Prints how long the work took. */
export async function timed<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  console.log(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return result
}
