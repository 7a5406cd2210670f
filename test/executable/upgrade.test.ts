/** `poterne upgrade`: from one made version to the next and back; whatever is wrong leaves the old one running. */
import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { runExecutable, spawnExecutable } from '../helpers/executable.ts'
import { newSigningKey, type Offer, releasedVersions, signFile, writeIndex } from '../helpers/releases.ts'
import { newDirectory } from '../helpers/run-directory.ts'

setDefaultTimeout(120_000)

const [key, nextKey, strangersKey] = [newSigningKey(), newSigningKey(), newSigningKey()]
let made: { present: string; newer: string }
let file: string
let config: string

beforeAll(async () => {
  made = await releasedVersions([key, nextKey])
})
beforeEach(() => {
  const folder = newDirectory('installed')
  file = join(folder, 'poterne')
  copyFileSync(made.present, file)
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

test('goes to the newest release and back again', async () => {
  configure(writeIndex(newest(), key))
  expect((await upgrade(['--check'])).out).toContain('poterne 9.9.9 is there')
  expect(await versionOf()).toBe(manifest.version)
  const { code, out } = await upgrade()
  expect([code, out]).toEqual([0, expect.stringContaining('poterne 9.9.9 is installed')])
  expect([await versionOf(), beside()]).toEqual(['9.9.9', ['poterne', 'poterne.previous']])
  expect((await upgrade(['--back'])).code).toBe(0)
  expect(await versionOf()).toBe(manifest.version)
})

test('believes the next key as well as the present one', async () => {
  configure(writeIndex(newest(), nextKey))
  expect((await upgrade()).code).toBe(0)
  expect(await versionOf()).toBe('9.9.9')
})

describe('nothing is changed', () => {
  const refused = async (reason: string, options: string[] = []) => {
    const { code, error } = await upgrade(options)
    expect([code, error]).toEqual([1, expect.stringContaining(reason)])
    expect([await versionOf(), beside()]).toEqual([manifest.version, ['poterne']])
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
    configure(writeIndex(newest({ lies: { sha256: '0'.repeat(64) } }), key))
    await refused('is not the file that the index names')
    configure(writeIndex(newest({ lies: { size: 1000 } }), key))
    await refused('is not the file that the index names')
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
  test('where the disk is full', async () => {
    configure(writeIndex(newest(), key))
    const limited = await runExecutable(['upgrade', '--config', config], {
      executable: file,
      wrapper: ['prlimit', '--fsize=1000000'],
    })
    expect(limited.code).not.toBe(0)
    expect(await versionOf()).toBe(manifest.version)
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

test('the environment file of the unit gives the variables that the configuration names', async () => {
  const index = writeIndex(newest(), key)
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

test('an executable that was built without keys believes nobody', async () => {
  const index = writeIndex(newest(), key)
  signFile(index, strangersKey)
  configure(index)
  const { code, error } = await runExecutable(['upgrade', '--check', '--config', config])
  expect([code, error]).toEqual([1, expect.stringContaining('knows no key of a release')])
})
