/**
 * The large files inside the executable. From source these are the packages' own files, and there is no prepared
 * database; the build (scripts/build.ts) replaces this module with one that names compressed copies (`.zst`).
 */
import initdbWasm from '../../../node_modules/@electric-sql/pglite/dist/initdb.wasm' with { type: 'file' }
import pgliteData from '../../../node_modules/@electric-sql/pglite/dist/pglite.data' with { type: 'file' }
import pgliteWasm from '../../../node_modules/@electric-sql/pglite/dist/pglite.wasm' with { type: 'file' }
import referenceScript from '../../../node_modules/@scalar/api-reference/dist/browser/standalone.js' with {
  type: 'file',
}
import { findArgon2Addon } from './argon2-packages.ts'

export const assetPaths = { initdbWasm, pgliteData, pgliteWasm, referenceScript }

/** A data directory for the embedded database, initialised and migrated, as a tar archive. */
export const preparedDatabasePath: string | null = null

/** The native addon that verifies passwords (see argon2-addon.ts); null where there is none for this machine. */
export const argon2AddonPath: string | null = findArgon2Addon(`${process.platform}-${process.arch}`)

/** The parts of the executable, listed by the build: a bill of materials (CycloneDX) and every licence text. */
export const inventoryPaths: { billOfMaterials: string; licences: string } | null = null
