/**
 * The writes that the embedded database acknowledges are flushed, and a disk that fails ends the instance instead of
 * the promise.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  mock,
  setDefaultTimeout,
  spyOn,
  test,
} from 'bun:test'
import { join } from 'node:path'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../src/platform/postgres/database.ts'
import { DatabaseUnavailable } from '../../src/platform/postgres/failure.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { type FileOperation, FlushedFiles } from '../../src/storage/embedded/files.ts'
import { openInstance } from '../../src/storage/embedded/instance.ts'
import { createStorage } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const isLog = ({ path }: FileOperation) => path.startsWith('pg_wal/')
const add = statement<{ note: number }>(sql`insert into "notes" values (${param('note', 'int')})`)
const count = statement<object, { notes: number }>(sql`select count(*)::int as notes from notes`)
const run = (text: string) => database.all({ text, params: [] }, {})

let database: Database
/** The disk answers `fail` with a code, and tells what was done in `operations`. */
const disk = {
  operations: [] as string[],
  all: [] as FileOperation[],
  ended: [] as string[],
  fail: (_operation: FileOperation): string | null => null,
}
beforeAll(async () => {
  const { settings } = await createStorage('embedded')
  database = await openEmbedded(settings.storage?.data_dir as string, {
    onEnded: ({ message }) => disk.ended.push(message),
    observer: {
      before(operation) {
        const code = disk.fail(operation)
        if (code !== null) throw Object.assign(new Error('the disk failed'), { code })
      },
      after(operation) {
        if (isLog(operation)) disk.operations.push(operation.kind)
        if (operation.kind !== 'write') disk.all.push(operation)
      },
    },
  })
})
afterAll(() => database.close())

/** One database serves all tests, since each failure ends its instance alone. It has no notes. */
async function empty() {
  disk.fail = () => null
  await isServing()
  await run('drop table if exists notes, texts')
  await run('create table notes (note int)')
  // Nothing else is written meanwhile, and a recovery reads little.
  while ((await database.upkeep!.step()) !== null);
  await run('checkpoint')
  disk.ended.length = 0
  return disk
}

const isServing = () =>
  waitFor(
    () =>
      database.ping().then(
        () => true,
        () => false,
      ),
    { timeoutMs: 30_000, what: 'the database again' },
  )

describe('each acknowledged write', () => {
  test('is followed by a flush of the log before its answer', async () => {
    const { operations } = await empty()
    for (let note = 0; note < 20; note++) {
      operations.length = 0
      await database.all(add, { note })
      expect(operations).toContain('write')
      expect(operations.at(-1)).toBe('flush')
      operations.length = 0
      await database.transaction(async (inside) => {
        await inside.all(add, { note })
        await inside.first(count, {})
      })
      expect(operations.at(-1)).toBe('flush')
    }
  })
})

describe('a statement that may write', () => {
  test('is followed by no flush where it wrote nothing', async () => {
    const { operations } = await empty()
    await database.all(add, { note: 1 })
    operations.length = 0
    for (let turn = 0; turn < 20; turn++) await run('update notes set note = 3 where note = 2')
    expect(operations).toEqual([])
    await run('update notes set note = 3 where note = 1')
    expect(operations.at(-1)).toBe('flush')
  })
})

const note = defineStatement({
  name: 'test.note',
  params: { note: 'int' },
  mayBeForgotten: true,
  sql: (p, unawaited) => sql`
    with ${unawaited} insert into notes select ${p.note} from unawaited where unawaited.off is not null`,
})

describe('a PGlite that would let nothing be flushed', () => {
  type Module = { NODEFS: { stream_ops: Record<string, unknown> } }
  afterEach(() => mock.restore())
  /** The files of an instance, changed as another version of PGlite might change them. */
  function change(place: 'before' | 'after', preRun: (module: Module) => void): void {
    const { init } = FlushedFiles.prototype
    // Code that NodeFS adds runs before the hook is installed.
    const owner = place === 'before' ? NodeFS.prototype : FlushedFiles.prototype
    const original = place === 'before' ? NodeFS.prototype.init : init
    spyOn(owner, 'init').mockImplementation(async function (this: FlushedFiles, ...args) {
      const { emscriptenOpts } = await original.apply(this, args)
      const all = [...(emscriptenOpts.preRun ?? []), preRun as never]
      return { emscriptenOpts: { ...emscriptenOpts, preRun: all } }
    })
  }

  test.each([
    ['that forgets the hook', 'after', (module: Module) => delete module.NODEFS.stream_ops.fsync],
    ['that never calls it', 'after', (module: Module) => (module.NODEFS.stream_ops.fsync = () => 0)],
    ['that has other files', 'before', (module: Module) => delete (module as Partial<Module>).NODEFS],
    ['that writes in another way', 'before', (module: Module) => delete module.NODEFS.stream_ops.write],
  ] as const)('%s is refused by the start', async (_, place, take) => {
    const { settings } = await createStorage('embedded')
    change(place, take)
    await expect(openEmbedded(settings.storage?.data_dir as string)).rejects.toThrow(
      /this PGlite does not let files be flushed/,
    )
  })
})

describe('what is not on the disk', () => {
  test('is awaited by 64 callers together, who share flushes', async () => {
    const { operations } = await empty()
    await database.all(add, { note: 0 })
    operations.length = 0
    await Promise.all(Array.from({ length: 64 }, (_, index) => database.all(add, { note: index })))
    const flushes = operations.filter((kind) => kind === 'flush').length
    expect(flushes).toBeGreaterThanOrEqual(1)
    expect(flushes).toBeLessThanOrEqual(16)
    expect(await database.first(count, {})).toEqual({ notes: 65 })
  })

  test('is seen by nobody: a reading, a refusal and a listener wait for the flush as well', async () => {
    const { operations } = await empty()
    await run('create unique index on notes (note)')
    const seen: string[] = []
    database.onInsert('notes', () => seen.push(`listener after ${operations.at(-1)}`))
    operations.length = 0
    const see = (what: string) => () => seen.push(`${what} after ${operations.at(-1)}`)
    await Promise.all([
      database.all(add, { note: 1 }).then(see('writer')),
      database.first(count, {}).then(see('reader')),
      database.all(add, { note: 1 }).catch(see('refused')),
    ])
    expect(seen.sort()).toEqual([
      'listener after flush',
      'reader after flush',
      'refused after flush',
      'writer after flush',
    ])
  })

  test('fails for everybody who waits where the flush fails', async () => {
    const disk = await empty()
    await database.all(add, { note: 0 })
    disk.fail = ({ kind }) => (kind === 'flush' ? 'EIO' : null)
    const answers = await Promise.allSettled([
      ...Array.from({ length: 16 }, (_, index) => database.all(add, { note: index })),
      database.first(count, {}),
    ])
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
    expect(disk.ended).toHaveLength(1)
    disk.fail = () => null
    await isServing()
  })

  test('keeps a reader waiting for some milliseconds, whatever writes wait before it', async () => {
    const { operations } = await empty()
    await database.first(count, {})
    const slowly = `insert into notes select max(each) from generate_series(1, 20000) as each`
    await run(slowly)
    let written = 0
    const writers = Array.from({ length: 100 }, () => run(slowly).then(() => (written += 1)))
    const seen = await database.first(count, {})
    expect(operations.at(-1)).toBe('flush')
    expect(seen!.notes).toBeLessThan(5)
    expect(written).toBeLessThan(50)
    await Promise.all(writers)
    expect(await database.first(count, {})).toEqual({ notes: 101 })
  })

  test('is written although readers never cease', async () => {
    await empty()
    await database.first(count, {})
    const readers = Array.from({ length: 100 }, () => database.first(count, {}))
    await Promise.all([database.all(add, { note: 1 }), ...readers])
    const seen = await Promise.all(readers)
    expect(seen.filter((row) => row!.notes === 0).length).toBeLessThan(10)
  })

  test('is flushed by a checkpoint once for each file that changed, and for each directory', async () => {
    const { operations, all } = await empty()
    await run(
      'create table texts as select repeat(md5(each::text), 30) as text from generate_series(1, 20000) as each',
    )
    await run('checkpoint')
    await run('insert into texts select text from texts')
    operations.length = 0
    all.length = 0
    await run('checkpoint')
    const renamed = all.filter(({ kind, path }) => kind === 'rename' && path.startsWith('pg_wal/'))
    expect(renamed.length).toBeGreaterThan(10)
    expect(operations.filter((kind) => kind === 'flush').length).toBeLessThan(4)
    expect(all.filter(({ kind, path }) => kind === 'flush' && path === 'pg_wal')).toHaveLength(1)
    expect(all.findLastIndex(({ path }) => path === 'pg_wal')).toBeGreaterThan(
      all.lastIndexOf(renamed.at(-1)!),
    )
  })

  test('may be what a crash may forget: it is answered at once, and flushed within two seconds', async () => {
    const { operations } = await empty()
    await database.all(add, { note: 1 })
    operations.length = 0
    await database.all(note, { note: 2 })
    expect(await database.first(count, {})).toEqual({ notes: 2 })
    expect(operations).not.toContain('flush')
    await waitFor(() => operations.includes('flush'), { timeoutMs: 5000, what: 'a flush' })
  })
})

test('a value that would fill the memory for good is refused', async () => {
  await empty()
  const text = 'x'.repeat(20 * 1024 * 1024)
  const length = statement<{ text: string }, { length: number }>(
    sql`select length(${param('text', 'text')}) as length`,
  )
  await expect(database.first(length, { text })).rejects.toMatchObject({ code: '54000' })
  expect(await database.first(length, { text: 'x' })).toEqual({ length: 1 })
})

describe('a disk that fails', () => {
  test.each([
    ['flush', 'EIO', reduced([true], [false, true])],
    ['write', 'EIO', reduced([false], [false, true])],
    ...reduced<[string, string, boolean[]][]>(
      [],
      [
        ['flush', 'ENOSPC', [false, true]],
        ['flush', 'EUNHEARDOF', [false, true]],
      ],
    ),
  ])(
    'at a %s of the log with %s ends the instance, also inside a commit, and it recovers',
    async (kind, code, ways) => {
      const disk = await empty()
      await database.all(add, { note: 1 })
      for (const inTransaction of ways) {
        disk.ended.length = 0
        disk.fail = (operation) => (isLog(operation) && operation.kind === kind ? code : null)
        const failing = inTransaction
          ? database.transaction((inside) => inside.all(add, { note: 2 }))
          : database.all(add, { note: 2 })
        await expect(failing).rejects.toBeInstanceOf(DatabaseUnavailable)
        expect(disk.ended).toEqual([expect.stringMatching(new RegExp(`^${kind} of pg_wal/\\w+ failed$`))])
        await expect(database.first(count, {})).rejects.toBeInstanceOf(DatabaseUnavailable)
        disk.fail = () => null
        await isServing()
        expect((await database.first(count, {}))!.notes).toBeGreaterThanOrEqual(1)
        await database.all(add, { note: 3 })
      }
    },
  )

  longTest('at a write of pg_control ends the instance', async () => {
    const disk = await empty()
    disk.fail = ({ path }) => (path === 'global/pg_control' ? 'EIO' : null)
    await expect(run('checkpoint')).rejects.toBeInstanceOf(DatabaseUnavailable)
    disk.fail = () => null
    expect(disk.ended).toHaveLength(1)
    await isServing()
  })

  test('at the start is an error of the start', async () => {
    const { settings } = await createStorage('embedded')
    const dataDir = settings.storage?.data_dir as string
    const observer = {
      before({ kind }: FileOperation) {
        if (kind === 'flush') throw Object.assign(new Error('the disk failed'), { code: 'EIO' })
      },
    }
    await expect(openInstance(join(dataDir, 'postgres'), { observer })).rejects.toThrow()
  })
})

describe('an exception that leaves WebAssembly', () => {
  test.each([
    ...reduced([], [['brackets', `select repeat('[', 200000)::jsonb`] as const]),
    ['groups of a pattern', `select 'a' ~ (repeat('(', 10000) || repeat(')', 10000))`],
  ])('because of too many %s is an error, and later statements are true', async (_, text) => {
    const disk = await empty()
    await database.all(add, { note: 1 })
    await expect(run(text)).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(disk.ended).toHaveLength(1)
    await isServing()
    await database.all(add, { note: 2 })
    expect(await database.first(count, {})).toEqual({ notes: 2 })
  })

  longTest('is not reached by brackets that a statement or a value nests too deep', async () => {
    const disk = await empty()
    const nested = '['.repeat(200_000)
    const json = statement<{ json: unknown }, { kind: string }>(
      sql`select jsonb_typeof(${param('json', 'jsonb')}) as kind`,
    )
    let deep: unknown = []
    for (let depth = 0; depth < 2000; depth++) deep = [deep]
    for (const refused of [
      () => run(`select '${nested}'::jsonb`),
      () => run(`select ${'('.repeat(200_000)}1${')'.repeat(200_000)}`),
      () => database.first(json, { json: deep }),
    ])
      await expect(refused()).rejects.toMatchObject({ code: '54001' })
    expect(disk.ended).toEqual([])
    expect(await database.first(json, { json: { [nested]: `"\\${nested}` } })).toEqual({ kind: 'object' })
    await database.all(add, { note: 1 })
    expect(await database.first(count, {})).toEqual({ notes: 1 })
  })

  test('is not reached by a recursion, which is an error of the statement alone', async () => {
    const disk = await empty()
    await run(
      'create or replace function endless(i int) returns int language plpgsql as $$ begin return endless(i + 1); end $$',
    )
    await expect(run('select endless(1)')).rejects.toMatchObject({ code: '54001' })
    expect(disk.ended).toEqual([])
    await database.all(add, { note: 1 })
    expect(await database.first(count, {})).toEqual({ notes: 1 })
  })
})

test.each([
  ...reduced<[string, string][]>([], [['openEmbedded', 'embedded.ts']]),
  ['openEmbeddedInThread', 'thread.ts'],
])('a statement that does not return ends the process with one line, by %s', async (open, file) => {
  const { settings } = await createStorage('embedded')
  const module = Bun.resolveSync(`../../src/storage/embedded/${file}`, import.meta.dir)
  const script = `
    import { ${open} } from ${JSON.stringify(module)}
    const database = await ${open}(${JSON.stringify(settings.storage?.data_dir)}, { silenceMs: 3000 })
    await database.all({ text: 'select count(*) from generate_series(1, 1e15)', params: [] }, {})`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'pipe' })
  const error = await new Response(child.stderr).text()
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
  expect(error).toBe('poterne failed: the database has not returned for too long, so this process ends\n')
})
