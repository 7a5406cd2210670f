/**
 * One command in this process, by what main.ts calls, when the ones before it have ended. A process of its own costs a third
 * of a second of a processor.
 */
import { spyOn } from 'bun:test'
import { commands } from '../../src/operations/commands/commands.ts'
import { run } from '../../src/operations/commands/run.ts'

let before: Promise<unknown> = Promise.resolve()

export function runHere(args: string[], env: Record<string, string>, directory = process.cwd()) {
  const result = before.then(() => runCaptured(args, env, directory))
  before = result.catch(() => {})
  return result
}

async function runCaptured(args: string[], env: Record<string, string>, directory: string) {
  const printed = { stdout: '', stderr: '' }
  const streams = ['stdout', 'stderr'] as const
  const writers = streams.map((name) =>
    spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += text
      return true
    }),
  )
  const terminals = [process.stdin, process.stdout].map((stream) => [stream, stream.isTTY] as const)
  for (const [stream] of terminals) stream.isTTY = false
  const putBack = replaceVariables({ SUDO_USER: undefined, ...env })
  const usual = process.cwd()
  process.chdir(directory)
  try {
    const code = await run(commands, args)
    return { code, out: printed.stdout, error: printed.stderr }
  } finally {
    for (const writer of writers) writer.mockRestore()
    for (const [stream, isTerminal] of terminals) stream.isTTY = isTerminal
    process.chdir(usual)
    putBack()
  }
}

/** Sets these, and gives what puts back those from before. */
export function replaceVariables(env: Record<string, string | undefined>): () => void {
  const outer = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]))
  setVariables(env)
  return () => setVariables(outer)
}

function setVariables(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
}
