/** `poterne backup verify` on a machine that has the file and its key, and nothing else. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeRecord, recordKinds } from '../../src/storage/backup/records.ts'
import { createSealedFile } from '../../src/storage/backup/sealed-file.ts'
import { runPoterne } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { runHere } from '../helpers/run-here.ts'
import { createDatabase } from '../helpers/servers.ts'
import { writeSettings } from '../helpers/service.ts'

setDefaultTimeout(180_000)

const secret = 'ab'.repeat(32)

test('a backup without an account is made where that is asked for, and is checked against its seal and its manifest', async () => {
  const directory = newDirectory('verify')
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(directory, name), content)
  const { url, drop } = await createDatabase()
  const { file: config } = writeSettings({ server: { secret }, database: { url } })
  const poterne = (args: string[]) => runPoterne(args, { directory })
  const make = (...options: string[]) => poterne(['backup', 'good', ...options, '--config', config])
  // It is kept only where that is asked for.
  const empty = await make()
  expect([empty.code, empty.error]).toEqual([
    1,
    expect.stringMatching(/holds no account: name the right one with --config.* --allow-empty\n$/),
  ])
  expect(readdirSync(directory)).toEqual([])
  const made = await make('--allow-empty', '--json')
  expect([made.error, made.code]).toEqual(['warning: it holds no account\n', 0])
  await drop()
  const { rows, tables, bytes } = JSON.parse(made.out)
  write('secret', `${secret}\n`)
  const bySecret = ['--secret-file', 'secret']
  const verify = (...args: string[]) => runHere(['backup', 'verify', ...args], {}, directory)

  const checked = await verify('good', ...bySecret)
  expect([checked.error, checked.code]).toEqual(['', 0])
  expect(checked.out).toMatch(
    /^good: [\d.]+ KiB, 0 accounts, \d+ rows in \d+ tables, of 20\S+Z by poterne \S+: its seal, parts and counts are right\n$/,
  )
  const asJson = await poterne(['backup', '--json', 'verify', 'good', ...bySecret])
  expect([asJson.error, asJson.code]).toEqual(['', 0])
  expect(JSON.parse(asJson.out)).toEqual({
    ...{ file: 'good', bytes, accounts: 0, rows, tables },
    ...{ version: expect.any(String), created_at: expect.stringMatching(/^20.*Z$/) },
  })
  // The configuration may name a database and a service that are gone.
  expect(await verify('good', '--config', config)).toMatchObject({ error: '', code: 0 })

  const good = readFileSync(join(directory, 'good'))
  const changed = Buffer.from(good)
  changed[good.length - 100]! ^= 1
  write('changed', changed)
  write('cut', good.subarray(0, -20))
  write('foreign', 'PGDMP and so on')
  write('newer', 'poterne backup 2\n{}\n')
  write('other', `${'cd'.repeat(32)}\n`)
  write('short', 'too short\n')
  await sealWrongCounts(join(directory, 'counts'))
  const said = async (...args: string[]) => {
    const { out, error, code } = await verify(...args)
    expect(out).toBe('')
    return [code, error]
  }
  for (const name of ['changed', 'cut'])
    expect(await said(name, ...bySecret)).toEqual([1, `${name} is damaged or cut off\n`])
  expect(await said('foreign', ...bySecret)).toEqual([1, 'foreign is no backup of poterne\n'])
  expect(await said('newer', ...bySecret)).toEqual([
    1,
    expect.stringMatching(/^newer was made by a newer poterne/),
  ])
  expect(await said('nothing', ...bySecret)).toEqual([1, 'nothing cannot be read (ENOENT)\n'])
  expect(await said('counts', ...bySecret)).toEqual([
    1,
    'counts is damaged: its part accounts is not the one of its manifest\n',
  ])
  for (const args of [['good'], ['good', '--secret-file', 'other']])
    expect(await said(...args)).toEqual([
      1,
      expect.stringMatching(
        /^good is sealed with another server secret \(key \w{8}\): name a file [^\n]*\n$/,
      ),
    ])

  for (const args of [[], ['good', 'cut'], ['good', '--no-such-option']])
    expect((await said(...args))[0]).toBe(2)
  expect(await said('good', '--secret-file', 'short')).toEqual([
    2,
    expect.stringContaining('short holds no server secret'),
  ])
  expect(await said('good', '--passphrase-file', 'short')).toEqual([
    2,
    expect.stringContaining('holds fewer than 12'),
  ])
  const hidden = writeSettings({ server: { secret }, backup: { passphrase_file: '/nowhere' } })
  expect(await said('good', '--config', hidden.file)).toEqual([
    2,
    '/nowhere cannot be read (ENOENT): let the user of the service read it; a command takes --passphrase-file in its place\n',
  ])
  // Nothing is made where it runs.
  expect(readdirSync(directory).filter((name) => /data|poterne/.test(name))).toEqual([])
})

/** By somebody who has the key, or by a defect of poterne. */
async function sealWrongCounts(file: string): Promise<void> {
  const writer = await createSealedFile(file, { kind: 'secret', secret: Buffer.from(secret, 'hex') })
  const put = async (kind: keyof typeof recordKinds, payload: object | Uint8Array) => {
    const bytes = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload))
    for (const each of encodeRecord(recordKinds[kind], bytes)) await writer.write(each)
  }
  const rows = Buffer.from('1\n2\n')
  const head = { name: 'accounts', columns: ['id'] }
  const sha256 = new Bun.CryptoHasher('sha256').update(rows).digest('hex')
  await put('part', head)
  await put('block', Bun.zstdCompressSync(rows))
  await put('manifest', {
    ...{ version: '0.1.0', created_at: new Date().toISOString(), source: 'postgres', sequences: [] },
    ...{ migration: { number: 0, name: 'initial', hash: 'x' }, secret_key_id: 'abcdef01' },
    parts: [{ ...head, rows: 3, bytes: rows.length, sha256 }],
  })
  await writer.end()
  await writer.close()
}
