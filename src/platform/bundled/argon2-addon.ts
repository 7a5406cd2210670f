/**
 * The native addon that verifies Argon2id digests (docs/decisions/native-verification.md), as a path that every thread can
 * load. Inside the executable it is a file that the system cannot load, so it is unpacked first.
 */
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argon2AddonPath } from './paths.ts'

/** The path to load, or why there is none. */
export type Addon = { path: string } | { missing: string }

let addon: Addon | undefined

/** Unpacks the addon at the first call. */
export function argon2Addon(): Addon {
  addon ??= findAddon()
  return addon
}

function findAddon(): Addon {
  if (argon2AddonPath === null)
    return { missing: `there is no addon for ${process.platform} on ${process.arch}` }
  const isEmbedded = argon2AddonPath.startsWith('/$bunfs/')
  if (!isEmbedded || process.platform !== 'linux') return { path: argon2AddonPath }
  try {
    return { path: unpack(argon2AddonPath) }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return { missing: `it cannot be unpacked in ${tmpdir()} (${code})` }
  }
}

/**
 * Bun would unpack it under a name that other users of the machine can guess and occupy, and would then leave one more
 * file behind at every start. This file has lost its name before it is written; its descriptor stays open.
 */
function unpack(embedded: string): string {
  const file = join(tmpdir(), `.poterne-${crypto.randomUUID()}.node`)
  const writable = openSync(file, 'wx', 0o600)
  try {
    const readable = openSync(file, 'r')
    unlinkSync(file)
    const bytes = readFileSync(embedded)
    for (let written = 0; written < bytes.length; ) written += writeSync(writable, bytes, written)
    return `/proc/self/fd/${readable}`
  } finally {
    closeSync(writable)
  }
}
