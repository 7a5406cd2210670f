/**
 * The container image for both processors as an OCI layout (image-spec 1.1), made without a container engine. It holds
 * the executable, the C library, certificates, time zones and a user; no shell.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { unpackPackages } from './debian-files.ts'
import { makeTar, type TarEntry } from './tar.ts'

const USER = 10_001

interface ImageOptions {
  /** The keys are Debian's name of the processor, which is also that of images. */
  executables: Record<string, string>
  commit: string
  /** Seconds since 1970. */
  epoch: number
  work: string
  out: string
}

interface Descriptor {
  mediaType: string
  digest: string
  size: number
}

/** Returns the folder of the layout. */
export function makeImage({ executables, commit, epoch, work, out }: ImageOptions): string {
  const layout = join(out, `poterne-${manifest.version}-oci`)
  rmSync(layout, { recursive: true, force: true })
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  const created = new Date(epoch * 1000).toISOString()
  const annotations = {
    'org.opencontainers.image.version': manifest.version,
    'org.opencontainers.image.revision': commit,
    'org.opencontainers.image.created': created,
    'org.opencontainers.image.licenses': manifest.license,
  }
  const manifests = Object.entries(executables).map(([architecture, executable]) => {
    const tar = makeTar(filesOf(architecture, executable, work), epoch)
    const layer = putBlob(
      layout,
      'application/vnd.oci.image.layer.v1.tar+gzip',
      Bun.gzipSync(Buffer.from(tar), { level: 9 }),
    )
    const config = putJson(layout, 'application/vnd.oci.image.config.v1+json', {
      created,
      architecture,
      os: 'linux',
      config: containerConfig,
      rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
      history: [{ created, created_by: 'scripts/release' }],
    })
    const type = 'application/vnd.oci.image.manifest.v1+json'
    const image = putJson(layout, type, {
      schemaVersion: 2,
      mediaType: type,
      config,
      layers: [layer],
      annotations,
    })
    return { ...image, platform: { architecture, os: 'linux' } }
  })
  const indexType = 'application/vnd.oci.image.index.v1+json'
  const index = putJson(layout, indexType, { schemaVersion: 2, mediaType: indexType, manifests, annotations })
  const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': manifest.version } }
  write(layout, 'index.json', { schemaVersion: 2, mediaType: indexType, manifests: [named] })
  write(layout, 'oci-layout', { imageLayoutVersion: '1.0.0' })
  return layout
}

const containerConfig = {
  User: `${USER}:${USER}`,
  Env: [
    'PATH=/usr/bin',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
    'POTERNE_SERVER_HOST=0.0.0.0',
    'POTERNE_STORAGE_DATA_DIR=/data',
  ],
  Entrypoint: ['/usr/bin/poterne'],
  Cmd: ['serve'],
  WorkingDir: '/data',
  Volumes: { '/data': {} },
  ExposedPorts: { '8080/tcp': {} },
  StopSignal: 'SIGTERM',
}

function filesOf(architecture: string, executable: string, work: string): TarEntry[] {
  const folders = unpackPackages(architecture, work)
  const fromDebian = folders.flatMap((folder) => walk(folder, '')).filter(({ path }) => isNeeded(path))
  const text = (path: string, content: string, mode = 0o644): TarEntry => ({
    path,
    mode,
    content: Buffer.from(content),
  })
  const own: TarEntry[] = [
    { path: 'usr/bin/poterne', mode: 0o755, content: readFileSync(executable) },
    text(
      'etc/passwd',
      `root:x:0:0:root:/:/usr/sbin/nologin\npoterne:x:${USER}:${USER}:poterne:/data:/usr/sbin/nologin\n`,
    ),
    text('etc/group', `root:x:0:\npoterne:x:${USER}:\n`),
    text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    text('etc/ssl/certs/ca-certificates.crt', certificates(fromDebian)),
    text('etc/poterne-image', `${manifest.version}\n`),
    { path: 'tmp/', mode: 0o1777 },
    { path: 'data/', mode: 0o700, owner: USER },
  ]
  const merged = new Map([...fromDebian.map(unifyUsr), ...own].map((entry) => [entry.path, entry]))
  for (const path of [...merged.keys()]) addParents(merged, path)
  // Debian's packages of the C library still name /lib, which has been a link to /usr/lib for years.
  for (const name of ['lib', 'lib64']) merged.set(name, { path: name, mode: 0o777, link: `usr/${name}` })
  return [...merged.values()]
}

/** No documentation, no translations, no programs, no conversion tables of character sets. */
const isNeeded = (path: string) =>
  !/^(usr\/share\/(doc|man|lintian|bug|locale|info|base-files|gdb)|usr\/(s?bin|lib\/[^/]+\/gconv)|s?bin|etc\/(?!os-release|localtime)|var|run|proc|sys|dev|home|root|mnt|media|opt|srv|boot)(\/|$)/.test(
    path,
  ) && !path.endsWith('/')

const unifyUsr = (entry: TarEntry): TarEntry => ({
  ...entry,
  path: entry.path.replace(/^(lib|lib64)\//, 'usr/$1/'),
})

/**
 * The file that `update-ca-certificates` would write: every certificate of Debian's list, in the order of their names.
 */
function certificates(entries: TarEntry[]): string {
  return entries
    .filter(({ path }) => /^usr\/share\/ca-certificates\/.*\.crt$/.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ content }) => Buffer.from(content ?? []).toString('latin1'))
    .join('')
}

function walk(folder: string, path: string): TarEntry[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((found) => {
    const name = path === '' ? found.name : `${path}/${found.name}`
    if (found.isDirectory()) return walk(folder, name)
    if (found.isSymbolicLink()) return [{ path: name, mode: 0o777, link: readlinkSync(join(folder, name)) }]
    const mode = lstatSync(join(folder, name)).mode & 0o777
    return [{ path: name, mode, content: readFileSync(join(folder, name)) }]
  })
}

function addParents(entries: Map<string, TarEntry>, path: string): void {
  const parts = path.split('/').slice(0, -1)
  for (let depth = 1; depth <= parts.length; depth++) {
    const parent = `${parts.slice(0, depth).join('/')}/`
    if (!entries.has(parent)) entries.set(parent, { path: parent, mode: 0o755 })
  }
}

const digestOf = (bytes: Uint8Array) => `sha256:${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`

function putBlob(layout: string, mediaType: string, bytes: Uint8Array): Descriptor {
  const digest = digestOf(bytes)
  writeFileSync(join(layout, 'blobs/sha256', digest.slice('sha256:'.length)), bytes)
  return { mediaType, digest, size: bytes.byteLength }
}

const putJson = (layout: string, mediaType: string, value: unknown) =>
  putBlob(layout, mediaType, Buffer.from(JSON.stringify(value)))

const write = (layout: string, file: string, value: unknown) =>
  writeFileSync(join(layout, file), JSON.stringify(value))
