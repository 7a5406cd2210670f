/** The check that a stopped embedded database is whole, as PGlite itself sees it: no native tool opens these files. */
import { PGlite } from '@electric-sql/pglite'
import { amcheck } from '@electric-sql/pglite/contrib/amcheck'
import { pageinspect } from '@electric-sql/pglite/contrib/pageinspect'
import { assetPaths } from '../../src/platform/bundled/paths.ts'

/** Compiled once for all that a test examines. */
let compiled: Promise<WebAssembly.Module> | null = null

/**
 * Reads every page of every relation, whose checksums PostgreSQL then compares, and lets amcheck examine every table and
 * B-tree. Throws where anything is damaged; gives how many pages and trees there were.
 */
export async function checkPages(directory: string): Promise<{ pages: number; trees: number }> {
  compiled ??= Bun.file(assetPaths.pgliteWasm).bytes().then(WebAssembly.compile)
  const database = await PGlite.create({
    dataDir: directory,
    extensions: { amcheck, pageinspect },
    pgliteWasmModule: await compiled,
  })
  try {
    return await examine(database)
  } finally {
    await database.close()
  }
}

async function examine(database: PGlite): Promise<{ pages: number; trees: number }> {
  const rows = async <Row>(text: string) => (await database.query<Row>(text)).rows
  await database.exec('create extension if not exists amcheck; create extension if not exists pageinspect')
  const [checksums] = await rows<{ data_checksums: string }>('show data_checksums')
  if (checksums?.data_checksums !== 'on') throw new Error('there are no checksums')
  const [read] = await rows<{ pages: number }>(`
    select count(get_raw_page(c.oid::regclass::text, fork, block::int))::int as pages
      from pg_class c, unnest(array['main', 'fsm', 'vm']) fork,
           generate_series(0, pg_relation_size(c.oid, fork) / 8192 - 1) block
     where c.relkind in ('r', 'i', 't', 'm', 'S')`)
  const damaged = await rows(`
    select c.oid::regclass::text as name, found.* from pg_class c, lateral verify_heapam(c.oid) found
     where c.relkind in ('r', 't', 'm')`)
  if (damaged.length > 0) throw new Error(`damaged: ${JSON.stringify(damaged.slice(0, 5))}`)
  const [trees] = await rows<{ checked: number }>(`
    select count(bt_index_check(i.indexrelid, true))::int as checked
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
     where a.amname = 'btree' and i.indisvalid`)
  return { pages: read!.pages, trees: trees!.checked }
}
