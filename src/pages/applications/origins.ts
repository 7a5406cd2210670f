/** Browsers may ask `/oauth2/token` from these origins. */
import type { ApplicationConfig } from '../../platform/config/types.ts'

/** The web applications may ask for their tokens from a browser; under --dev those of this machine too. */
export const originsOf = (applications: readonly ApplicationConfig[], dev: boolean): string[] => [
  ...new Set(
    applications.flatMap(({ redirectUris }) =>
      redirectUris.flatMap((uri) => ((dev ? /^https?:/ : /^https:/).test(uri) ? new URL(uri).origin : [])),
    ),
  ),
]
