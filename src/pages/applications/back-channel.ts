/**
 * Tells an application that a session of it ended (OpenID Connect Back-Channel Logout): a message of the outbox, whose token
 * is made anew for each attempt.
 */
import type { QueuedMessage } from '../../domain/messages/outbox/store.ts'
import type { SendOutcome } from '../../domain/messages/senders/sender.ts'
import type { IdentityTokens } from '../../domain/sessions/tokens/identity-token.ts'
import { backChannelsOf } from '../../platform/config/applications.ts'
import type { Config } from '../../platform/config/types.ts'
import type { Network } from '../../platform/guarded-fetch.ts'

interface Needs {
  config: Pick<Config, 'pages'>
  identityTokens: Pick<IdentityTokens, 'signLogoutToken'>
  network: Pick<Network, 'fetch'>
}

const TIMEOUT_MS = 5000
/** The application may take it later; any other refusal is its last word. */
const TRIED_AGAIN = /^(408|429|5\d\d)$/

export function createBackChannel({ config, identityTokens, network }: Needs) {
  const addresses = new Map(
    backChannelsOf(config).map(({ id, backchannelLogoutUri }) => [id, backchannelLogoutUri]),
  )

  /** The status of the answer, or the word for none. The body is not read. */
  async function post(address: string, token: string): Promise<string> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const { status, body } = await network.fetch(address, {
        method: 'POST',
        // A small answer could unpack to a large one, and every request of the process would wait for that.
        headers: { 'accept-encoding': 'identity' },
        decompress: false,
        redirect: 'manual',
        signal,
        body: new URLSearchParams({ logout_token: token }),
      })
      await body?.cancel()
      return String(status)
    } catch {
      return signal.aborted ? 'timeout' : 'connection'
    }
  }

  return async ({
    destination,
    values,
  }: Pick<QueuedMessage, 'destination' | 'values'>): Promise<SendOutcome> => {
    const { sub = '', sid = '' } = values
    const address = addresses.get(destination)
    if (address === undefined) return { outcome: 'refused', detail: 'no_back_channel' }
    const said = await post(address, await identityTokens.signLogoutToken({ aud: destination, sub, sid }))
    if (/^2/.test(said)) return { outcome: 'sent', detail: destination }
    const outcome = /^\d/.test(said) && !TRIED_AGAIN.test(said) ? 'refused' : 'failed'
    const detail = `${destination}:${said}`
    return { outcome, detail, refusals: [{ gateway: destination, outcome, detail: said }] }
  }
}
