/** Browsers may ask `/oauth2/token` from these origins. */
import type { ApplicationConfig } from '../../../platform/config/types.ts'

/** The web applications may ask for their tokens from a browser. */
export const originsOf = (applications: readonly ApplicationConfig[]): string[] => [
  ...new Set(
    applications.flatMap(({ redirectUris }) =>
      redirectUris.flatMap((uri) => (/^https?:/.test(uri) ? new URL(uri).origin : [])),
    ),
  ),
]
