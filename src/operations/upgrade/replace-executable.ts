/**
 * Putting another executable in the place of this one. Every step leaves a file that runs under the name: a process
 * that is killed in between changes nothing, or has finished.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { flush } from '../../platform/flush.ts'
import { type Download, openLocation, UpgradeRefused } from './release-index.ts'

/** The names beside the executable: of the new one before it takes its place, and of the one before. */
const incomingOf = (file: string) => `${file}.incoming`
export const previousOf = (file: string) => `${file}.previous`
const linkOf = (file: string) => `${file}.linking`

/** The first bytes of a zstd frame (RFC 8878): releases are compressed so. */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/**
 * Downloads beside `file` and verifies length and hash; what does not hold is removed. Returns the path of the new
 * executable. `onProgress`: the part that has arrived, from 0 to 1.
 */
export async function download(
  file: string,
  { url, sha256, size }: Download,
  onProgress: (done: number) => void,
): Promise<string> {
  const incoming = incomingOf(file)
  const packed = `${incoming}.zst`
  try {
    await fetchVerified(url, packed, { sha256, size }, onProgress)
    const bytes = readFileSync(packed)
    const unpacked = bytes.subarray(0, 4).equals(ZSTD) ? await Bun.zstdDecompress(bytes) : bytes
    writeFileSync(incoming, unpacked, { mode: 0o700 })
    flush(incoming)
    chmodSync(incoming, statSync(file).mode & 0o777)
    return incoming
  } catch (error) {
    rmSync(incoming, { force: true })
    throw explainWriting(error, dirname(file))
  } finally {
    rmSync(packed, { force: true })
  }
}

async function fetchVerified(
  url: string,
  path: string,
  { sha256, size }: Omit<Download, 'url'>,
  onProgress: (done: number) => void,
): Promise<void> {
  const hash = createHash('sha256')
  const descriptor = openSync(path, 'w', 0o600)
  let written = 0
  try {
    for await (const chunk of openLocation(url)) {
      written += chunk.byteLength
      if (written > size) break
      hash.update(chunk)
      writeSync(descriptor, chunk)
      onProgress(written / size)
    }
  } finally {
    closeSync(descriptor)
  }
  if (written !== size || hash.digest('hex') !== sha256) {
    throw new UpgradeRefused(`${url} is not the file that the index names: nothing was changed`)
  }
}

/** Keeps what is there as `.previous`, and puts `incoming` in its place. */
export const replace = (file: string, incoming: string) =>
  changeLinked(file, () => {
    renameSync(linkOf(file), previousOf(file))
    renameSync(incoming, file)
  })

/** Exchanges the executable and the previous one, so that a second time leads forward again. */
export function exchange(file: string): void {
  if (!existsSync(previousOf(file))) {
    throw new UpgradeRefused(`there is no ${previousOf(file)} to go back to`)
  }
  changeLinked(file, () => {
    renameSync(previousOf(file), file)
    renameSync(linkOf(file), previousOf(file))
  })
}

/** Changes what the names stand for, while a link keeps what is there. */
function changeLinked(file: string, change: () => void): void {
  try {
    rmSync(linkOf(file), { force: true })
    linkSync(file, linkOf(file))
    change()
    flush(dirname(file))
  } catch (error) {
    throw explainWriting(error, dirname(file))
  }
}

function explainWriting(error: unknown, directory: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return new UpgradeRefused(`${directory} is full: nothing was changed`)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new UpgradeRefused(
      `${directory} cannot be written to (${code}): run it as the owner of the file, for example by sudo`,
    )
  }
  return error
}
