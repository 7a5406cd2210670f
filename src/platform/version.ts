/** The identity of the running program: the version, and the commit that it was built from. */
import manifest from '../../package.json' with { type: 'json' }

/** scripts/build.ts puts a text in the place of each; run from source they do not exist. */
declare const POTERNE_COMMIT: string | undefined
declare const POTERNE_BUILT_AT: string | undefined

export const version = {
  version: manifest.version,
  /** `unknown` where it was built without git, or runs from source. */
  commit: typeof POTERNE_COMMIT === 'string' ? POTERNE_COMMIT : 'unknown',
  /** It is null when run from source. */
  built_at: typeof POTERNE_BUILT_AT === 'string' ? POTERNE_BUILT_AT : null,
  bun: Bun.version,
}

declare const POTERNE_RELEASE_KEYS: string | undefined

/** The public keys (minisign, base64) whose releases `poterne upgrade` believes: the present one and the next one. */
export const releaseKeys: string[] =
  typeof POTERNE_RELEASE_KEYS === 'string' ? POTERNE_RELEASE_KEYS.split(',').filter((key) => key !== '') : []
