/** `poterne upgrade`: from one made version to the next and back; whatever is wrong leaves the old one running. */
import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { type Executable, runExecutable, spawnExecutable, startExecutable } from '../helpers/executable.ts'
import {
  LATER_MIGRATION,
  newSigningKey,
  type Offer,
  releasedVersions,
  signFile,
  writeIndex,
} from '../helpers/releases.ts'
import { newDirectory, newFastDirectory } from '../helpers/run-directory.ts'

setDefaultTimeout(120_000)

const [key, nextKey, strangersKey] = [newSigningKey(), newSigningKey(), newSigningKey()]
let made: { present: string; newer: string }
let file: string
let config: string
/** Whoever replaced a file, or wrote into it, changed this. */
const identityOf = (path: string) => {
  const { ino, size, mtimeMs } = statSync(path)
  return { ino, size, mtimeMs }
}
/** Of the executable. */
let identity: ReturnType<typeof identityOf>

beforeAll(async () => {
  made = await releasedVersions([key, nextKey])
}, 600_000)
beforeEach(() => {
  const folder = newDirectory('installed')
  file = join(folder, 'poterne')
  // An upgrade gives the name to another file, and writes to none that runs.
  linkSync(made.present, file)
  identity = identityOf(file)
  config = join(newDirectory('configuration'), 'config.toml')
})

const configure = (index: string, more = '') =>
  writeFileSync(
    config,
    `[smtp]\nhost = "127.0.0.1"\nfrom = "a@example.com"\n[upgrade]\nindex = "${index}"\n${more}`,
  )
const upgrade = (options: string[] = [], env = {}) =>
  runExecutable(['upgrade', '--config', config, ...options], { executable: file, env })
const versionOf = async () =>
  JSON.parse((await runExecutable(['version', '--json'], { executable: file })).out).version
const newest = (more: Partial<Offer> = {}): Offer => ({ version: '9.9.9', executable: made.newer, ...more })
const beside = () => readdirSync(join(file, '..')).sort()

/** A `systemctl` that starts nothing (or with `isFailing` says so only when asked), and where wanted a `dpkg-query` to which every file belongs. */
function toolsOf({ isPackaged, isFailing = false }: { isPackaged: boolean; isFailing?: boolean }) {
  const folder = newDirectory('tools')
  const calls = join(folder, 'calls')
  const tool = (name: string, body: string) =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  tool(
    'systemctl',
    `[ "$1" = show ] && exit 0\necho "$1 $2" >> ${calls}\n[ "$1" = stop ] || ${isFailing} || { echo no >&2; exit 1; }`,
  )
  if (isPackaged) tool('dpkg-query', 'exit 0')
  const called = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [])
  return { env: { PATH: `${folder}:${process.env.PATH}` }, called }
}

test('goes to the newest release and back again', async () => {
  configure(writeIndex(newest(), key))
  expect((await upgrade(['--check'])).out).toContain('poterne 9.9.9 is there')
  expect(await versionOf()).toBe(manifest.version)
  const { code, out } = await upgrade()
  expect([code, out]).toEqual([0, expect.stringContaining('poterne 9.9.9 is installed')])
  expect([await versionOf(), beside()]).toEqual(['9.9.9', ['poterne', 'poterne.previous']])
  expect(await upgrade(['--check'])).toMatchObject({ code: 3, error: '' })
  expect((await upgrade(['--back', '--yes'])).code).toBe(0)
  expect(await versionOf()).toBe(manifest.version)
})

describe('nothing is changed', () => {
  const refused = async (reason: string, options: string[] = [], env = {}) => {
    const { code, error } = await upgrade(options, env)
    expect([code, error]).toEqual([1, expect.stringContaining(reason)])
    expect([identityOf(file), beside()]).toEqual([identity, ['poterne']])
  }

  test('where another key signed', async () => {
    configure(writeIndex(newest(), strangersKey))
    await refused('is not signed by a key')
  })
  test('where a byte of the index changed after it was signed', async () => {
    const index = writeIndex(newest(), key)
    writeFileSync(index, readFileSync(index, 'utf8').replace('9.9.9', '9.9.8'))
    configure(index)
    await refused('is not signed by a key')
  })
  test('where the index expired, which --check only says', async () => {
    configure(writeIndex(newest({ expires: new Date(0) }), key))
    expect(await upgrade(['--check'])).toMatchObject({ code: 0, error: expect.stringContaining('expired') })
    await refused('expired')
  })
  test('where the index offers an older version', async () => {
    configure(writeIndex(newest({ version: '0.0.1' }), key))
    await refused('which is older')
  })
  test('where the file is not the one that the index names', async () => {
    const sum = { sha256: '0'.repeat(64) }
    for (const lies of [sum, { size: 1000 }]) {
      configure(writeIndex(newest({ lies }), key))
      await refused('is not the file that the index names')
    }
  })
  test('where the index leads to a host by http', async () => {
    configure(writeIndex(newest({ lies: { url: 'http://downloads.example.com/poterne' } }), key))
    await refused('expected https')
  })
  test('where the file says another version than the index', async () => {
    configure(writeIndex(newest({ version: '9.9.10' }), key))
    await refused('is poterne 9.9.9')
  })
  test('where the new executable finds the configuration wrong', async () => {
    const broken = join(newDirectory('broken'), 'poterne')
    writeFileSync(
      broken,
      '#!/bin/sh\n[ "$1" = version ] && echo \'{"version":"9.9.9"}\' && exit 0\necho no >&2; exit 2\n',
    )
    configure(writeIndex(newest({ executable: broken }), key))
    await refused('config check')
  })
  test('where the index or its signature is not there', async () => {
    configure('/nowhere/index.json')
    await refused('cannot be read (ENOENT)')
  })
  test('where it is said to go to a version that is not offered', async () => {
    configure(writeIndex(newest(), key))
    await refused('offers 9.9.9, not 1.0.0', ['--to', '1.0.0'])
  })
  test('where the executable belongs to a package', async () => {
    configure(writeIndex(newest(), key))
    await refused('install the newer package instead', [], toolsOf({ isPackaged: true }).env)
  })
  test('where the disk is full', async () => {
    configure(writeIndex(newest(), key))
    const limited = await runExecutable(['upgrade', '--config', config], {
      executable: file,
      wrapper: ['prlimit', '--fsize=1000000'],
    })
    expect(limited.code).not.toBe(0)
    expect(identityOf(file)).toEqual(identity)
  })
})

test('a kill at any moment leaves an executable that runs, and the next upgrade finishes', async () => {
  configure(writeIndex(newest(), key))
  for (const waitMs of [30, 80, 150, 250, 400, 700]) {
    const running = await spawnExecutable(['upgrade', '--config', config], { executable: file })
    await Bun.sleep(waitMs)
    running.signal('SIGKILL')
    await running.exited
    expect([manifest.version, '9.9.9']).toContain(await versionOf())
  }
  expect((await upgrade()).code).toBe(0)
  expect(await versionOf()).toBe('9.9.9')
  expect(existsSync(`${file}.incoming`)).toBe(false)
})

test('the environment file of the unit gives the variables that the configuration names, and the next key is believed as well', async () => {
  const index = writeIndex(newest(), nextKey)
  writeFileSync(
    config,
    `[smtp]\nhost = "127.0.0.1"\nfrom = "a@example.com"\npassword = "\${SECRET}"\nusername = "a"\n[upgrade]\nindex = "${index}"\n`,
  )
  const environment = join(newDirectory('environment'), 'environment')
  writeFileSync(environment, '# what the unit reads\nSECRET="hidden words"\n')
  expect((await upgrade()).code).toBe(2)
  expect((await upgrade(['--environment', environment])).code).toBe(0)
  expect(await versionOf()).toBe('9.9.9')
})

describe('a release whose migration excludes the version before', () => {
  const person = async (service: Executable) => {
    const email = newEmail()
    await service.signUp(email)
    return { identifier: email, password: PASSWORD }
  }
  const statusOf = async (service: Executable, who: { identifier: string; password: string }) =>
    (await service.post('login', who)).status

  /** As systemd keeps the data of `DynamicUser=yes`; root's service takes on the owner. */
  function privateData(): string {
    const place = newFastDirectory('private')
    mkdirSync(join(place, 'private'), { mode: 0o700 })
    mkdirSync(join(place, 'private/poterne'), { mode: 0o700 })
    if (process.getuid?.() === 0) chownSync(join(place, 'private/poterne'), 12_345, 12_345)
    symlinkSync('private/poterne', join(place, 'data'))
    return join(place, 'data')
  }

  /** What the manager of packages does. */
  function install(executable: string): void {
    rmSync(file)
    linkSync(executable, file)
  }

  /** A service of the present version that was stopped, and whose file is 9.9.9 since. */
  async function upgraded(dataDir = join(newFastDirectory('data'), 'data')) {
    const index = writeIndex(newest(), key)
    const storage = { storage: { data_dir: dataDir } }
    const service = await startExecutable({ storage, executable: file, settings: { upgrade: { index } } })
    const early = await person(service)
    const run = (args: string[], wrapper: string[] = [], env = {}) =>
      runExecutable([...args, ...service.configArgs], { executable: file, wrapper, env })
    expect(await service.kill('SIGTERM')).toBe(0)
    expect(await run(['upgrade'])).toMatchObject({ code: 0 })
    return { service, early, run, dataDir }
  }

  test('is left by the copy of before, and what was written since is named and kept aside', async () => {
    const { service, early, run, dataDir } = await upgraded(privateData())
    await service.start()
    const late = await person(service)
    expect([await statusOf(service, early), await statusOf(service, late)]).toEqual([200, 200])
    const inUse = await run(['upgrade', '--back', '--yes'])
    expect([inUse.code, inUse.error]).toEqual([1, expect.stringContaining('in use by another poterne')])
    await service.kill('SIGTERM')
    const asked = await run(['upgrade', '--back'])
    expect([asked.code, asked.error]).toEqual([1, expect.stringContaining(LATER_MIGRATION)])
    expect(asked.error).toContain('--back --yes puts back the copy of 20')
    expect(asked.error).toContain('1 new accounts')
    expect(await versionOf()).toBe('9.9.9')
    const back = await run(['upgrade', '--back', '--yes', '--json'])
    expect([back.code, back.error]).toEqual([0, ''])
    const { restored } = JSON.parse(back.out)
    expect(restored).toMatchObject({ kept: join(dataDir, 'postgres.9.9.9'), written: { accounts: 1 } })
    expect(restored.written.events).toMatchObject({ 'account.confirmed': 1, 'login.succeeded': 2 })
    expect([await versionOf(), existsSync(restored.kept)]).toEqual([manifest.version, true])
    expect(lstatSync(join(dataDir, 'postgres')).uid).toBe(lstatSync(restored.kept).uid)
    await service.start()
    expect([await statusOf(service, early), await statusOf(service, late)]).toEqual([200, 401])
    await service.close()
  })

  test('that never started is left without a copy', async () => {
    const { service, early, run } = await upgraded()
    const { env, called } = toolsOf({ isPackaged: false })
    const { code, error } = await run(['upgrade', '--back', '--restart', 'poterne'], [], env)
    expect([code, error]).toEqual([1, expect.stringContaining('poterne did not start')])
    expect(called()).toEqual(['restart poterne'])
    await service.start()
    expect([await versionOf(), await statusOf(service, early)]).toEqual([manifest.version, 200])
    await service.close()
  })

  test('whose service ends after it was restarted is no success', async () => {
    const { service, early, run } = await upgraded()
    const { env, called } = toolsOf({ isPackaged: false, isFailing: true })
    const { code, out, error } = await run(['upgrade', '--back', '--restart', 'poterne'], [], env)
    expect([code, error]).toEqual([1, expect.stringContaining('poterne is not ready: read its log')])
    expect(out).toContain('The executable from before is back')
    expect(called()).toEqual(['restart poterne', 'is-failed --quiet'])
    await service.start()
    expect(await statusOf(service, early)).toBe(200)
    await service.close()
  })

  test('of a package is left by the copy too, and the file stays to the package', async () => {
    const { service, early, run } = await upgraded()
    const { env, called } = toolsOf({ isPackaged: true })
    const ask = (...args: string[]) => run(['upgrade', ...args], [], env)
    expect(await run(['migrate'])).toMatchObject({ code: 0 })
    const asked = await ask('--back')
    expect([asked.code, asked.error]).toEqual([1, expect.stringContaining('--back --yes puts back the copy')])
    expect(asked.error).toContain('Then install the older package')
    const [before, back] = [beside(), await ask('--back', '--yes', '--restart', 'poterne')]
    expect([back.code, back.error]).toEqual([0, ''])
    expect(back.out).toContain('Now install the older package, then systemctl start poterne.')
    expect([called(), await versionOf(), beside()]).toEqual([['stop poterne'], '9.9.9', before])
    expect((await ask('--back', '--yes')).out).toContain('did not migrate')
    install(made.present)
    await service.start()
    expect(await statusOf(service, early)).toBe(200)
    await service.close()
  })

  test('of a package is left by the copy where the older package was installed first', async () => {
    const { service, early, run } = await upgraded()
    const { env } = toolsOf({ isPackaged: true })
    const goBack = () => run(['upgrade', '--back', '--yes', '--restart', 'poterne'], [], env)
    expect(await run(['migrate'])).toMatchObject({ code: 0 })
    expect(await goBack()).toMatchObject({ code: 0 })
    expect(await run(['migrate'])).toMatchObject({ code: 0 })
    install(made.present)
    expect(await run(['migrate'])).toMatchObject({ code: 2 })
    const late = await goBack()
    expect([late.code, late.error]).toEqual([1, expect.stringContaining('poterne did not start')])
    expect(late.out).not.toContain('install')
    // By the version that wrote it, not by the one that puts it aside.
    expect(late.out).toContain('postgres.9.9.9-2: remove it')
    await service.start()
    expect(await statusOf(service, early)).toBe(200)
    await service.close()
  })

  test('a kill at each renaming leaves a way back', async () => {
    const killedAt = (step: number) => [
      ...['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=rename,renameat,renameat2,link,linkat'],
      ...['-e', `inject=rename,renameat,renameat2,link,linkat:signal=KILL:when=${step}`],
    ]
    for (let step = 1; step <= 4; step++) {
      const { service, early, run } = await upgraded()
      await run(['migrate'], killedAt(step))
      await service.start()
      expect(await statusOf(service, early)).toBe(200)
      await service.kill('SIGTERM')
      await run(['upgrade', '--back', '--yes'], killedAt(step))
      expect((await runExecutable(['version'], { executable: file })).code).toBe(0)
      if ((await versionOf()) !== manifest.version)
        expect(await run(['upgrade', '--back', '--yes'])).toMatchObject({ code: 0 })
      await service.start()
      expect([await versionOf(), await statusOf(service, early)]).toEqual([manifest.version, 200])
      await service.close()
    }
  }, 600_000)

  test('does not migrate without space for the copy, and the version before still runs', async () => {
    const folder = newDirectory('small-disk')
    expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=160m', 'none', folder]).exitCode).toBe(0)
    try {
      const { service, early, run, dataDir } = await upgraded(join(folder, 'data'))
      const { bavail, bsize } = statfsSync(folder)
      const filler = join(folder, 'filler')
      writeFileSync(filler, Buffer.alloc(bavail * bsize - 60 * 2 ** 20))
      const migrated = await run(['migrate'])
      expect([migrated.code, migrated.error]).toEqual([1, expect.stringContaining('free space for a copy')])
      expect(readdirSync(dataDir).filter((name) => /snapshot|before/.test(name))).toEqual([])
      expect(await run(['upgrade', '--back'])).toMatchObject({ code: 0 })
      await service.start()
      expect([await versionOf(), await statusOf(service, early)]).toEqual([manifest.version, 200])
      await service.close()
    } finally {
      Bun.spawnSync(['umount', '-l', folder])
    }
  })
})

test('an executable that was built without keys believes nobody', async () => {
  const index = writeIndex(newest(), key)
  signFile(index, strangersKey)
  configure(index)
  const { code, error } = await runExecutable(['upgrade', '--check', '--config', config])
  expect([code, error]).toEqual([1, expect.stringContaining('knows no key of a release')])
})
