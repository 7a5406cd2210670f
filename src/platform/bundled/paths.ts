/**
 * The large files that travel inside the executable. From source they are the packages' own, and there is no prepared
 * database; the build puts a module with compressed copies (`.zst`) in the place of this one: scripts/build.ts.
 */
import initdbWasm from '../../../node_modules/@electric-sql/pglite/dist/initdb.wasm' with { type: 'file' }
import pgliteData from '../../../node_modules/@electric-sql/pglite/dist/pglite.data' with { type: 'file' }
import pgliteWasm from '../../../node_modules/@electric-sql/pglite/dist/pglite.wasm' with { type: 'file' }
import referenceScript from '../../../node_modules/@scalar/api-reference/dist/browser/standalone.js' with {
  type: 'file',
}

export const assetPaths = { initdbWasm, pgliteData, pgliteWasm, referenceScript }

/** A data directory for the embedded database, initialised and migrated, as a tar archive. */
export const preparedDatabasePath: string | null = null
