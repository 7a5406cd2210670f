/** A tar archive (POSIX ustar) whose bytes depend on nothing but its entries: fixed order, owner and time. */

export interface TarEntry {
  /** The path has no leading slash; that of a directory ends in one. */
  path: string
  mode: number
  /** Default: root. */
  owner?: number
  /** The target of a symbolic link. */
  link?: string
  content?: Uint8Array
}

const BLOCK = 512
const PREFIX_BYTES = 155
const NAME_BYTES = 100

/** `seconds`: the time of every entry, since 1970. Entries are sorted by path. */
export function makeTar(entries: TarEntry[], seconds: number): Uint8Array {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
  const parts = sorted.flatMap((entry) => {
    const content = entry.content ?? new Uint8Array()
    const rest = content.byteLength % BLOCK
    return [
      header(entry, content.byteLength, seconds),
      content,
      new Uint8Array(rest === 0 ? 0 : BLOCK - rest),
    ]
  })
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK)])
}

function header({ path, mode, owner = 0, link }: TarEntry, size: number, seconds: number): Uint8Array {
  const block = Buffer.alloc(BLOCK)
  const [prefix, name] = splitPath(path)
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  block.write(name, 0, 'utf8')
  octal(mode, 100, 8)
  octal(owner, 108, 8)
  octal(owner, 116, 8)
  octal(size, 124, 12)
  octal(seconds, 136, 12)
  block.fill(' ', 148, 156)
  block.write(link !== undefined ? '2' : path.endsWith('/') ? '5' : '0', 156, 'latin1')
  if (link !== undefined) block.write(link, 157, 'utf8')
  block.write('ustar\x0000', 257, 'latin1')
  block.write(prefix, 345, 'utf8')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** A path of more than 100 bytes is divided at a slash. */
function splitPath(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= NAME_BYTES) return ['', path]
  const slash = path.indexOf('/', path.length - NAME_BYTES - 1)
  const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)]
  if (slash === -1 || prefix.length > PREFIX_BYTES || name.length > NAME_BYTES)
    throw new Error(`${path} is too long for tar`)
  return [prefix, name]
}
