/** Who types the service's base_url into an application of OpenID Connect finds a document without endpoints, and no word why. */
import { applicationsForOpenId } from '../../platform/config/applications.ts'
import type { Config } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'

const HOUR_MS = 3_600_000

/** The function to call when that document was read; it names the right issuer, once an hour at most. */
export function createIssuerNotice(
  config: Pick<Config, 'pages' | 'server'>,
  { clock, logger }: Pick<Ground, 'clock' | 'logger'>,
) {
  if (applicationsForOpenId(config).length === 0) return null
  const issuer = `${config.server.baseUrl}/oauth2`
  let saidAtMs = Number.NEGATIVE_INFINITY
  return (): void => {
    const nowMs = clock.now().getTime()
    if (Math.abs(nowMs - saidAtMs) < HOUR_MS) return
    saidAtMs = nowMs
    logger.info({ issuer }, OTHER_ISSUER)
  }
}

const OTHER_ISSUER =
  'openid-configuration was read at server.base_url, where no application signs in: an application of pages.applications with `own` needs this issuer'
