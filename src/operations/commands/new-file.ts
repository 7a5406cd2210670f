/** Makes the files that commands write what is private to. */
import { openSync } from 'node:fs'
import { CommandFailure } from './failure.ts'

/** A new file that nobody else can read. `name`: what the command line calls it. */
export function createFile(file: string, name: string): number {
  try {
    return openSync(file, 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'is there already: name a new file' : `cannot be written (${code})`
    throw new CommandFailure(2, name === file ? `${file} ${why}` : `${name}: ${file} ${why}`)
  }
}
