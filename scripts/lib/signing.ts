/** The keys of a release (minisign), and signatures with a fixed comment, so that two releases are the same bytes. */
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

export interface ReleaseKey {
  /** The file of the secret key. */
  file: string
  /** Base64, as the executable holds it. */
  publicKey: string
}

/** It returns null where the variable is not set. Throws where a key or its public half is missing. */
export function readReleaseKey(variable: string): ReleaseKey | null {
  const file = process.env[variable]
  if (!file) return null
  const publicFile = `${file.replace(/\.key$/, '')}.pub`
  for (const needed of [file, publicFile])
    if (!existsSync(needed)) throw new Error(`${variable}: ${needed} is not there`)
  return { file, publicKey: readFileSync(publicFile, 'utf8').trim().split('\n').at(-1) as string }
}

/** Writes `path.minisig`. */
export function sign(path: string, key: ReleaseKey, version: string): void {
  const comment = `poterne ${version} ${basename(path)}`
  const command = [
    'minisign',
    '-S',
    '-s',
    key.file,
    '-c',
    'signature of a release of poterne',
    '-t',
    comment,
    '-m',
    path,
  ]
  const { exitCode, stderr } = Bun.spawnSync(command, { stdin: 'inherit' })
  if (exitCode !== 0)
    throw new Error(`minisign could not sign ${basename(path)}: ${stderr.toString().trim()}`)
}
