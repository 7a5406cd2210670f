/** The Debian package: executable, unit, configuration, man page and completions. The same commit gives the same bytes. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import manifest from '../../package.json'
import { run } from './shell.ts'

const root = join(import.meta.dir, '../..')

interface PackageOptions {
  executable: string
  architecture: string
  /** Seconds since 1970, of the commit. */
  epoch: string
  /** The folder of man page and completions. */
  manuals: string
  licences: string
  out: string
}

/** Each file goes there, with its mode. */
function contents({
  executable,
  manuals,
  licences,
}: PackageOptions): [from: string, to: string, mode: number][] {
  return [
    [executable, 'usr/bin/poterne', 0o755],
    [join(manuals, 'poterne.1.gz'), 'usr/share/man/man1/poterne.1.gz', 0o644],
    [join(manuals, 'poterne.bash'), 'usr/share/bash-completion/completions/poterne', 0o644],
    [join(manuals, '_poterne'), 'usr/share/zsh/vendor-completions/_poterne', 0o644],
    [join(manuals, 'poterne.fish'), 'usr/share/fish/vendor_completions.d/poterne.fish', 0o644],
    [licences, 'usr/share/doc/poterne/THIRD-PARTY.md', 0o644],
    [join(root, 'config.example.toml'), 'usr/share/doc/poterne/config.example.toml', 0o644],
  ]
}

/** Returns the path of the package. `--strip` is never used: it would leave Bun without poterne. */
export function makeDebianPackage(options: PackageOptions): string {
  const { architecture, epoch, out } = options
  const tree = join(out, `deb-${architecture}`)
  rmSync(tree, { recursive: true, force: true })
  for (const [from, to, mode] of contents(options)) {
    put(tree, to)
    copyFileSync(from, join(tree, to))
    chmodSync(join(tree, to), mode)
  }
  write(tree, 'usr/lib/systemd/system/poterne.service', 0o644, packagedUnit())
  write(tree, 'etc/poterne/config.toml', 0o600, shippedConfiguration())
  write(tree, 'usr/share/doc/poterne/copyright', 0o644, copyright())
  write(tree, 'usr/share/doc/poterne/changelog', 0o644, changelog(epoch))
  run(['gzip', '-9n', join(tree, 'usr/share/doc/poterne/changelog')])
  write(tree, 'usr/share/lintian/overrides/poterne', 0o644, lintianOverrides)
  write(tree, 'DEBIAN/control', 0o644, control(architecture, installedKib(tree)))
  write(tree, 'DEBIAN/conffiles', 0o644, '/etc/poterne/config.toml\n')
  for (const script of ['postinst', 'prerm', 'postrm'] as const)
    write(tree, `DEBIAN/${script}`, 0o755, readFileSync(join(root, 'scripts/debian', script), 'utf8'))
  const file = join(out, `poterne_${manifest.version}_${architecture}.deb`)
  run(['dpkg-deb', '--root-owner-group', '-Zxz', '--build', tree, file], {
    env: { SOURCE_DATE_EPOCH: epoch },
  })
  rmSync(tree, { recursive: true })
  return file
}

function put(tree: string, path: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 })
}

function write(tree: string, path: string, mode: number, text: string): void {
  put(tree, path)
  writeFileSync(join(tree, path), text)
  chmodSync(join(tree, path), mode)
}

/**
 * The example with every setting off, so that the service does not start before somebody named a mail server. The
 * sections stay, so that each setting is turned on by removing the "#" before it.
 */
function shippedConfiguration(): string {
  const example = readFileSync(join(root, 'config.example.toml'), 'utf8')
  return example.replace(/^(?!#|\[|\s*$)/gm, '#')
}

const installedKib = (tree: string) =>
  Number(run(['du', '-sk', '--apparent-size', tree]).split('\t')[0]) || statSync(tree).size

/** The shipped unit, with the path that the package installs to. */
function packagedUnit(): string {
  const unit = readFileSync(join(root, 'scripts/poterne.service'), 'utf8')
  const withoutHead = unit.slice(unit.indexOf('[Unit]'))
  return withoutHead
    .replaceAll('/usr/local/bin/poterne', '/usr/bin/poterne')
    .replace('Documentation=file:///etc/poterne/config.toml', 'Documentation=man:poterne(1)')
}

const control = (architecture: string, kib: number) => `Package: poterne
Version: ${manifest.version}
Architecture: ${architecture}
Maintainer: The poterne maintainers <maintainers@poterne.invalid>
Installed-Size: ${kib}
Depends: libc6 (>= 2.36), libgcc-s1, ca-certificates, passwd
Recommends: tzdata
Section: net
Priority: optional
Description: registration, confirmation, login and two-factor sign-in
 A service that keeps accounts and signs people in, by e-mail and by phone, for
 applications that call its HTTP interface. It is one executable with an
 embedded database, and works with PostgreSQL and Redis.
`

const copyright = () => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: poterne
Comment: What the executable contains of others is in THIRD-PARTY.md beside this file, and \`poterne licenses\` prints it.

Files: *
Copyright: The poterne authors
License: MIT
${readFileSync(join(root, 'LICENSE'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => ` ${line.trim() === '' ? '.' : line}`)
  .join('\n')}
`

const changelog = (epoch: string) => `poterne (${manifest.version}) stable; urgency=medium

  * Release ${manifest.version}. What changed is in the changelog of the sources.

 -- The poterne maintainers <maintainers@poterne.invalid>  ${new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000')}
`

/** Each with its reason. */
const lintianOverrides = `# The program is Bun with poterne's code behind it: strip would remove the code.
poterne: unstripped-binary-or-object [usr/bin/poterne]
# It is linked as Bun is published.
poterne: hardening-no-pie [usr/bin/poterne]
poterne: hardening-no-relro [usr/bin/poterne]
# The service may start only where its configuration can work, which debhelper's snippets cannot decide.
poterne: maintainer-script-calls-systemctl *
# Only that of a former unit, when it moves; -h follows no link, and Linux lets nobody link to a file of another user.
poterne: recursive-privilege-change "chown -R" [postinst:*]
# Libraries of Bun (zlib, SQLite, libarchive) are linked in; they come with the runtime and are listed by version --sbom.
poterne: embedded-library *
# It may hold passwords of mail servers and gateways.
poterne: non-standard-file-perm 0600 != 0644 [etc/poterne/config.toml]
`
