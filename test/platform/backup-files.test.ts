/** The file of a backup: what is sealed, what is refused, and that no table is left out. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { hkdfSync, scryptSync } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CopySession, openServerCopy } from '../../src/platform/postgres/copy.ts'
import { ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { copiedTables } from '../../src/platform/postgres/tables.ts'
import { backupName, removeOldBackups } from '../../src/storage/backup/files.ts'
import { type BackupKey, findFileKey } from '../../src/storage/backup/keys.ts'
import { loadBackup, requireKnownMigration } from '../../src/storage/backup/load.ts'
import type { Manifest } from '../../src/storage/backup/manifest.ts'
import { readParts, verifyBackup } from '../../src/storage/backup/read.ts'
import { encodeRecord, recordKinds } from '../../src/storage/backup/records.ts'
import { createSealedFile, readSealedFile } from '../../src/storage/backup/sealed-file.ts'
import { writeBackup } from '../../src/storage/backup/write.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { use } from '../helpers/use-service.ts'

setDefaultTimeout(30_000)

const secret = (byte: string): BackupKey => ({ kind: 'secret', secret: Buffer.from(byte.repeat(32), 'hex') })
const key = secret('ab')
const passphrase: BackupKey = { kind: 'passphrase', passphrase: 'a passphrase of some length' }
const CHUNK = 64 * 1024

const newFile = () => join(newDirectory('backup'), 'file')

async function seal(content: Uint8Array, by = key): Promise<string> {
  const file = newFile()
  const writer = await createSealedFile(file, by)
  await writer.write(content)
  await writer.end()
  await writer.close()
  return file
}

async function open(file: string, keys: BackupKey[] = [key]): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(readSealedFile(file, keys)))
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: Error) => error.message,
  )

describe('a sealed file', () => {
  test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 20 * CHUNK])('gives back %d bytes', async (length) => {
    const content = crypto.getRandomValues(new Uint8Array(Math.min(length, CHUNK)))
    const whole = Buffer.alloc(length, content)
    expect((await open(await seal(whole))).equals(whole)).toBeTrue()
  })

  test('holds nothing in clear, and nothing twice', async () => {
    const content = Buffer.from('a secret of somebody '.repeat(10_000))
    const [one, other] = [await seal(content), await seal(content)].map((file) => readFileSync(file))
    expect(one!.includes('a secret of somebody')).toBeFalse()
    expect(one!.subarray(-CHUNK).equals(other!.subarray(-CHUNK))).toBeFalse()
  })

  test('is refused when a byte was changed, wherever it stands', async () => {
    const bytes = readFileSync(await seal(Buffer.alloc(3 * CHUNK, 'x')))
    for (const at of [0, 20, 60, 250, 400, CHUNK + 500, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      const file = newFile()
      writeFileSync(file, changed)
      expect(await refusal(open(file))).toMatch(
        /^(is damaged|is no backup|is sealed with|was made by a newer)/,
      )
    }
  })

  test('is refused when it was cut off, also between two chunks, or when chunks changed places', async () => {
    const bytes = readFileSync(await seal(Buffer.alloc(3 * CHUNK, 'x')))
    const body = bytes.length - 3 * (CHUNK + 16)
    const chunk = (number: number) => {
      const start = body + number * (CHUNK + 16)
      return bytes.subarray(start, start + CHUNK + 16)
    }
    const head = bytes.subarray(0, body)
    const damaged = [
      bytes.subarray(0, -1),
      bytes.subarray(0, body + 2 * (CHUNK + 16)),
      head,
      Buffer.concat([bytes, chunk(2)]),
      Buffer.concat([head, chunk(1), chunk(0), chunk(2)]),
    ]
    for (const each of damaged) {
      const file = newFile()
      writeFileSync(file, each)
      expect(await refusal(open(file))).toBe('is damaged or cut off')
    }
  })

  test('is refused when it is foreign, newer, missing, or sealed with something else', async () => {
    const foreign = newFile()
    writeFileSync(foreign, 'PGDMP something else')
    expect(await refusal(open(foreign))).toBe('is no backup of poterne')
    const newer = newFile()
    writeFileSync(newer, 'poterne backup 2\n{}\n')
    expect(await refusal(open(newer))).toContain('made by a newer poterne')
    expect(await refusal(open('/nowhere/at-all'))).toBe('cannot be read (ENOENT)')
    expect(await refusal(open(newDirectory('backup')))).toBe('is no file')
    const sealed = await seal(Buffer.from('x'))
    expect(await refusal(open(sealed, [secret('cd')]))).toMatch(
      /^is sealed with another server secret \(key [\da-f]{8}\): name a file that holds it with --secret-file$/,
    )
    expect((await open(sealed, [secret('cd'), passphrase, key])).toString()).toBe('x')
    const byPassphrase = await seal(Buffer.from('x'), passphrase)
    expect((await open(byPassphrase, [key, passphrase])).toString()).toBe('x')
    expect(await refusal(open(byPassphrase))).toContain('is sealed with a passphrase')
    const other: BackupKey = { kind: 'passphrase', passphrase: 'another passphrase' }
    expect(await refusal(open(byPassphrase, [other]))).toBe('is sealed with another passphrase')
  })

  test('has the key of its own passphrase, salt and cost, whichever was stretched before', () => {
    const [own, other] = ['a passphrase of some length', 'another passphrase']
    const opens = (typed: string, salt: string, cost: number) => {
      const bytes = Buffer.from(salt, 'hex')
      const material = scryptSync(own, bytes, 32, { N: 2 ** cost, r: 8, p: 1 })
      const derive = (info: string, length: number) =>
        Buffer.from(hkdfSync('sha256', material, bytes, `poterne backup ${info}`, length))
      const header = {
        key: 'passphrase',
        scrypt: cost,
        salt,
        check: derive('check', 8).toString('hex'),
      } as const
      const found = findFileKey(header, [{ kind: 'passphrase', passphrase: typed }])
      return derive('file', 32).equals(found)
    }
    const [salt, otherSalt] = ['ab'.repeat(32), 'cd'.repeat(32)]
    for (const file of [salt, salt, otherSalt, salt]) expect(opens(own, file, 10)).toBeTrue()
    for (const cost of [11, 10]) expect(opens(own, salt, cost)).toBeTrue()
    expect(() => opens(other, salt, 10)).toThrow('is sealed with another passphrase')
    expect(opens(own, salt, 10)).toBeTrue()
  })
})

describe('a backup of a database', () => {
  const source = use<CopySession & { drop?: () => Promise<void> }>(async () => {
    const { url } = await createDatabase()
    return openServerCopy(url)
  })
  const about = { version: '1.2.3', secret_key_id: 'ab' }
  async function write(file: string) {
    const writer = await createSealedFile(file, key)
    try {
      return await writeBackup(source, writer, { about, now: new Date() })
    } finally {
      await writer.close()
    }
  }

  test('holds every table that the migrations make', async () => {
    const made = await source.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    const names = made.map(({ name }) => name).filter((name) => name !== 'poterne_migrations')
    expect(
      copiedTables()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names.sort())
    const manifest = await write(newFile())
    expect(manifest.parts.map(({ name }) => name).sort()).toEqual(names)
  })

  test('holds what was committed when it began, byte for byte', async () => {
    await source.query(
      `insert into tickets (key, value, expires_at)
       select number::text, to_jsonb(E'tab\\t line\\n back\\\\ é ' || number), now() from generate_series(1, 20000) number`,
    )
    const file = newFile()
    const manifest = await write(file)
    expect(await verifyBackup(file, [key])).toEqual(manifest)
    let rows = ''
    for await (const item of readParts(file, [key])) {
      if ('manifest' in item) continue
      for await (const block of item.part.blocks)
        if (item.part.name === 'tickets') rows += Buffer.from(block).toString()
    }
    const found = await source.query<{ line: string }>(
      `select key || E'\\t' || replace(replace(value::text, E'\\\\', E'\\\\\\\\'), E'\\n', '') as line from tickets order by key::int`,
    )
    expect(
      rows
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('\t').slice(0, 2).join('\t')),
    ).toEqual(found.map(({ line }) => line))
  })

  test('is restored into tables whose keys and indexes are those that the migrations make', async () => {
    const schemaOf = (session: CopySession) =>
      session.query<{ name: string }>(
        `select conrelid::regclass::text as owner, conname as name, pg_get_constraintdef(oid, true) as definition,
                (select reloptions from pg_class where oid = conindid)::text as options
           from pg_constraint where connamespace = current_schema()::regnamespace and contype <> 'n'
         union all
         select indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid),
                concat(attnotnull, (select min(attstattarget) from pg_attribute where attrelid = indexrelid))
           from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
          where indrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
          order by 1, 2, 3`,
      )
    const { url } = await createDatabase({ migrated: false })
    const target = await openServerCopy(url)
    const file = newFile()
    const manifest = await write(file)
    await target.query('begin')
    await loadBackup(target, file, { keys: [key], manifest, now: new Date() })
    await target.query('commit')
    const [made, restored] = [await schemaOf(source), await schemaOf(target)]
    await target.close()
    expect(made.length).toBeGreaterThan(100)
    expect(restored).toEqual(made)
  })

  test('is refused by a version that does not know its migrations', async () => {
    const manifest = await write(newFile())
    const of = (migration: Partial<Manifest['migration']>) => () =>
      requireKnownMigration({ ...manifest, migration: { ...manifest.migration, ...migration } })
    expect(of({})).not.toThrow()
    expect(of({ number: 999, name: '0999_later' })).toThrow(
      'was made by a newer poterne (1.2.3, 0999_later): restore it with that version',
    )
    expect(of({ hash: 'other' })).toThrow('is not the one in this executable')
  })
})

describe('a backup that was made to do harm, by somebody who has its key,', () => {
  const manifest: Manifest = {
    ...{ version: '1.2.3', created_at: '2026-07-01T00:00:00Z', source: 'postgres', secret_key_id: 'ab' },
    migration: { number: ownMigrations.length - 1, name: 'x', hash: ownMigrations.at(-1)!.hash },
    ...{ parts: [], sequences: [] },
  }
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const pack = (records: [keyof typeof recordKinds, Uint8Array][]) =>
    seal(Buffer.concat(records.flatMap(([kind, payload]) => encodeRecord(recordKinds[kind], payload))))
  const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
  /** Makes a backup with one part, and a manifest that fits it. */
  const withPart = (name: string, columns: string[], rows: string, wrong: object = {}) => {
    const part = {
      name,
      columns,
      rows: rows.split('\n').length - 1,
      bytes: rows.length,
      sha256: sha256(rows),
    }
    return pack([
      ['part', json({ name, columns })],
      ['block', Bun.zstdCompressSync(rows)],
      ['manifest', json({ ...manifest, parts: [{ ...part, ...wrong }] })],
    ])
  }
  const refusalOf = async (file: Promise<string>) => refusal(verifyBackup(await file, [key]))

  test('is refused in one line, whatever it says about itself', async () => {
    const long = Buffer.alloc(5)
    long.writeUInt32BE(0xffffffff, 1)
    expect(await refusalOf(seal(long))).toBe('is damaged: a record is too long')
    const bomb = Bun.zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))
    const before = process.memoryUsage.rss()
    const part = json({ name: 'accounts', columns: ['id'] })
    for (let round = 0; round < 5; round++)
      expect(
        await refusalOf(
          pack([
            ['part', part],
            ['block', bomb],
          ]),
        ),
      ).toBe('is damaged: a block cannot be decompressed')
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024)
    const rows = '1\n2\n'
    for (const name of ['../../etc/passwd', 'accounts"; drop table accounts; --', 'poterne_migrations', ''])
      expect(await refusalOf(withPart(name, ['id'], rows))).toBe('is damaged: it names no table of poterne')
    for (const columns of [[], ['a b'], [1], 'id'] as string[][])
      expect(await refusalOf(withPart('accounts', columns, rows))).toBe(
        'is damaged: it names no table of poterne',
      )
    for (const wrong of [
      { rows: 3 },
      { bytes: 5 },
      { sha256: 'ab' },
      { name: 'codes' },
      { columns: ['uuid'] },
    ])
      expect(await refusalOf(withPart('accounts', ['id'], rows, wrong))).toMatch(
        /^is damaged: its part (accounts|codes) is not the one of its manifest$/,
      )
    for (const wrong of [{ rows: -1 }, { bytes: '4' }, { rows: 1e99 }, { columns: null }])
      expect(await refusalOf(withPart('accounts', ['id'], rows, wrong))).toBe(
        'is damaged: its manifest cannot be read',
      )
    expect(await refusalOf(withPart('accounts', ['id'], '1\n2'))).toBe('is damaged: a row is cut off')
    expect(await refusalOf(withPart('accounts', ['id', 'uuid'], rows))).toBe('is damaged: a row lacks fields')
    for (const wrong of [null, [], 'x', {}, { ...manifest, parts: {} }, { ...manifest, migration: null }])
      expect(await refusalOf(pack([['manifest', json(wrong)]]))).toBe(
        'is damaged: its manifest cannot be read',
      )
    for (const wrong of [{ created_at: 'never' }, { sequences: [null] }, { secrets: [1] }, { parts: [null] }])
      expect(await refusalOf(pack([['manifest', json({ ...manifest, ...wrong })]]))).toBe(
        'is damaged: its manifest cannot be read',
      )
    const costly = newFile()
    const header = { key: 'passphrase', scrypt: 19, salt: 'ab', check: 'ab' }
    writeFileSync(costly, `poterne backup 1\n${JSON.stringify(header)}\n`)
    expect(await refusal(open(costly, [passphrase]))).toBe('is damaged: its header asks for too much memory')
  })

  test('is refused in one line when its rows fit no table, and nothing of it stays', async () => {
    const { url } = await createDatabase({ migrated: false })
    const target = await openServerCopy(url)
    const load = async (name: string, column: string, rows: string) => {
      const file = await withPart(name, [column], rows)
      const manifest = await verifyBackup(file, [key])
      await target.query('begin')
      const said = await refusal(loadBackup(target, file, { keys: [key], manifest, now: new Date() }))
      await target.query('rollback')
      return said
    }
    expect([
      await load('nonsense', 'id', '1\n'),
      await load('roles', 'nonsense', '1\n'),
      await load('sessions', 'id', 'no uuid\n'),
    ]).toEqual([
      'is damaged: its rows cannot be loaded (nonsense, 42P01)',
      'is damaged: its rows cannot be loaded (roles, 42P01)',
      'cannot be loaded (sessions): the log of the PostgreSQL server says why',
    ])
    expect(await target.query(`select 1 from pg_class where relname = 'accounts'`)).toEqual([])
    await target.close()
  })
})

test('of scheduled backups the newest stay, and nothing else is touched', () => {
  const directory = newDirectory('backups')
  const names = [1, 2, 3, 4].map((day) => backupName(new Date(`2026-07-0${day}T01:30:00Z`)))
  expect(names[0]).toBe('poterne-20260701-013000.backup')
  const manual = backupName(new Date('2020-01-01T00:00:00Z'), { isScheduled: false })
  const others = [manual, 'mine.backup', 'poterne-20200101-013000.backup.old', 'poterne-20200101-013000.sql']
  for (const name of [...names, ...others]) writeFileSync(join(directory, name), '')
  const [link, below] = ['poterne-20200102-013000.backup', 'poterne-20200103-013000.backup']
  symlinkSync(join(directory, others[1]!), join(directory, link))
  mkdirSync(join(directory, below))
  expect(removeOldBackups(directory, 2)).toBeNull()
  expect(readdirSync(directory).sort()).toEqual([...names.slice(2), ...others, link, below].sort())
  expect(removeOldBackups(join(directory, 'mine.backup'), 2)).toStartWith(
    'old backups could not be removed: ',
  )
})
