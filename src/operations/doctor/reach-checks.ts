/**
 * The checks of everything that is reached over the network: gateways, the service by its public address, providers,
 * the sites of passkeys.
 */

import { wellKnownFiles } from '../../domain/sign-in/passkeys/well-known.ts'
import type { Config } from '../../platform/config/types.ts'
import type { Network } from '../../platform/guarded-fetch.ts'
import { type Arrival, PROBE_HEADER } from '../../platform/http/address-probes.ts'
import { openPlain, openTls } from '../../platform/open-socket.ts'
import {
  type Finding,
  failure,
  type KeyedFinding,
  type OutsideContext,
  ok,
  warning,
  worstOf,
} from './check.ts'
import { explainFailure } from './explain.ts'

const TIMEOUT_MS = 5000
/** The address is of a network for documentation (RFC 5737): nobody has it. */
const FORGED_ADDRESS = '192.0.2.123'

export const askOutside = (
  { fetch }: Pick<Network, 'fetch'>,
  url: string,
  options: RequestInit = {},
): Promise<Response> =>
  fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })

/** No request is sent but HEAD of the root through a proxy: a gateway might take any other for a message. */
export async function reachHost(template: string, { fetch }: Pick<Network, 'fetch'>) {
  const { hostname, protocol, port, origin } = new URL(template.replace(/\{[^{}]*\}/g, '1'))
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host)
  if (!isLocal && (process.env.HTTPS_PROXY ?? process.env.https_proxy))
    return replyOf({ fetch }, origin).then(() => 'it answers by way of HTTPS_PROXY')
  if (protocol === 'https:') return `it answers (${await openTls(host, Number(port) || 443, true)})`
  return `it answers (${await openPlain(host, Number(port) || 80)}, in clear)`
}

type Gateway = Pick<Config['sms']['gateways'][number], 'url' | 'oauth'>

/** Connects to each host that a gateway names, the one of its messages first. */
export function reachGateway({ url, oauth }: Gateway, index: number, through: Pick<Network, 'fetch'>) {
  const key = `sms.gateways[${index}]`
  const addresses = [
    [`${key}.url`, url] as const,
    ...(oauth === null ? [] : [[`${key}.oauth.token_url`, oauth.token_url] as const]),
  ]
  return Promise.all(
    addresses.map(async ([name, address]): Promise<KeyedFinding> => {
      try {
        return { key: name, ...ok(await reachHost(address, through)) }
      } catch (error) {
        return { key: name, ...failure(explainFailure(error, name)) }
      }
    }),
  )
}

export async function checkGateways({ config, network }: OutsideContext): Promise<Finding> {
  const findings = config.sms.gateways.map(async (gateway, index): Promise<Finding> => {
    const { name, url } = gateway
    const reached = await reachGateway(gateway, index, network)
    const { level, message } = reached.find((each) => each.level === 'failure') ?? reached[0]!
    if (level === 'failure') return failure(`${name}: ${message}`)
    try {
      await replyOf(network, new URL(url.replace(/\{[^{}]*\}/g, '1')).origin)
      return ok(`${name}: ${message}`)
    } catch (error) {
      return failure(`${name}: ${explainFailure(error, `sms.gateways[${index}]`)}`)
    }
  })
  return worstOf(await Promise.all(findings), ok('none is configured'))
}

/** Any answer to HEAD of the root will do: it is no path of a message. Throws without one. */
async function replyOf({ fetch }: Pick<Network, 'fetch'>, origin: string): Promise<void> {
  try {
    await askOutside({ fetch }, origin, { method: 'HEAD' })
  } catch (error) {
    const { name } = (error ?? {}) as { name?: string }
    throw name === 'TimeoutError' ? new Error('it takes connections, and gives no answer') : error
  }
}

/** The keys of another service, or none, show that clients reach something else. */
export async function checkBaseUrl({ config, publishedKeys, network }: OutsideContext): Promise<Finding> {
  const { baseUrl } = config.server
  const url = `${baseUrl}/.well-known/jwks.json`
  let kids: string[]
  try {
    const answer = await askOutside(network, url)
    if (answer.status !== 200)
      return warning(
        `${url} answers ${answer.status}: pass every path of server.base_url on to poterne, unchanged`,
      )
    const { keys } = (await answer.json()) as { keys: { kid: string }[] }
    kids = keys.map(({ kid }) => kid).sort()
  } catch (error) {
    return warning(
      `${baseUrl} cannot be reached from here (${explainFailure(error, 'server.base_url')}), which is no fault where only clients must reach it`,
    )
  }
  if (publishedKeys === null) return warning(`${baseUrl} answers; its keys could not be compared`)
  return kids.join() === [...publishedKeys].sort().join()
    ? ok(`${baseUrl} answers with the keys of this database`)
    : failure(
        `${baseUrl} answers with other keys than those of this database: correct server.base_url, or the address that the proxy passes on to`,
      )
}

/** The first page sets a cookie under its own name. The page of another name sets none. */
export async function checkPagesReach({
  config: { server, pages },
  network,
}: Pick<OutsideContext, 'config' | 'network'>): Promise<Finding> {
  if (!pages.enabled) return ok('off')
  const url = `${server.baseUrl}/sign-in`
  let answer: Response
  try {
    answer = await askOutside(network, url)
  } catch (error) {
    return warning(
      `${url} cannot be reached from here (${explainFailure(error, 'server.base_url')}), which is no fault where only people must reach it`,
    )
  }
  if (answer.status !== 200)
    return failure(
      `${url} answers ${answer.status}: pass every path of server.base_url on to poterne, unchanged`,
    )
  return answer.headers.getSetCookie().some((cookie) => /^(__Host-)?poterne-browser=/.test(cookie))
    ? ok(`people sign in at ${url}`)
    : failure(
        `${url} does not come as a sign-in page: let the proxy pass Host on (nginx: proxy_set_header Host $host) and leave Set-Cookie as it is`,
      )
}

/**
 * Asks by the public address, as a client does that writes an X-Forwarded-For of its own, and has the service say how that
 * arrived.
 */
export async function checkForwardedFor({ config, service, network }: OutsideContext): Promise<Finding> {
  if (service === null) return warning('not checked: no service of this configuration runs on this machine')
  const mark = await service.startProbe()
  const headers = { [PROBE_HEADER]: mark, 'x-forwarded-for': FORGED_ADDRESS }
  try {
    await askOutside(network, `${config.server.baseUrl}/healthz`, { headers })
  } catch {
    return warning('not checked: server.base_url cannot be reached from here')
  }
  const arrival = await service.readProbe(mark)
  if (arrival === null)
    return warning('not checked: server.base_url leads to another process than the one that runs here')
  return checkArrival(arrival, isOwnAddress(config.server))
}

/** Exported for its test: there are more proxies than a test can start. */
export function checkArrival({ peer, forwardedFor, address, isTrusted }: Arrival, isDirect: boolean) {
  const alike = 'so that the limits take all clients for one'
  if (forwardedFor === null)
    return failure(`the proxy (${peer}) passes no X-Forwarded-For on, ${alike}: let it set that header`)
  if (forwardedFor !== FORGED_ADDRESS)
    return isTrusted
      ? ok(`a client's address arrives through ${peer} (here ${address})`)
      : failure(
          `X-Forwarded-For comes from ${peer}, which is not trusted, ${alike}: add "${peer}" to server.trusted_proxies`,
        )
  if (isTrusted)
    return failure(
      `what clients write into X-Forwarded-For is believed, since ${peer} passes it on and is trusted: let the proxy add its client's address, or take ${peer} out of server.trusted_proxies`,
    )
  return isDirect
    ? ok('there is no proxy in front, and X-Forwarded-For is not believed')
    : failure(
        `the proxy (${peer}) passes X-Forwarded-For on as clients write it, ${alike}: let it add its client's address, and then put ${peer} into server.trusted_proxies`,
      )
}

/** Nothing is between a client and the service where the address is that of the service itself. */
function isOwnAddress({ baseUrl, port }: OutsideContext['config']['server']): boolean {
  const url = new URL(baseUrl)
  return url.protocol === 'http:' && Number(url.port || 80) === port
}

/** Reads the description of each provider, as a sign-in does. */
export async function checkProviders({ providers, network }: OutsideContext): Promise<Finding> {
  const checks = { state: 'doctor', nonce: 'doctor', codeVerifier: 'd'.repeat(43) }
  const findings = providers.names.map(async (name): Promise<Finding> => {
    try {
      const url = await providers.get(name).authorizationUrl(checks)
      await reachHost(url.origin, network)
      return ok(`${name} answers`)
    } catch (error) {
      const { detail } = (error ?? {}) as { detail?: string }
      const said = detail ?? explainFailure(error, `social.providers`)
      return failure(
        `${name} cannot be used (${said}): look at its status page, its issuer in the configuration, and whether this machine may call it`,
      )
    }
  })
  return worstOf(await Promise.all(findings), ok('none is configured'))
}

/** The files that browsers and phones look for on the site of the relying party (docs/passkeys.md). */
export async function checkPasskeyFiles({ config, network }: OutsideContext): Promise<Finding> {
  const { passkeys } = config
  const { rpId, origins } = passkeys
  if (rpId === null) return ok('passkeys are off')
  const site = origins.find((origin) => URL.parse(origin)?.hostname === rpId) ?? `https://${rpId}`
  const made = wellKnownFiles(passkeys)
  const isRelated = origins.some((origin) => !isBelow(URL.parse(origin)?.hostname ?? rpId, rpId))
  const wanted: [string, unknown][] = [
    ['webauthn', isRelated ? made.webauthn : null],
    ['apple-app-site-association', made.appleAppSiteAssociation],
    ['assetlinks.json', made.assetLinks],
    ['passkey-endpoints', made.passkeyEndpoints],
  ]
  const files = wanted
    .filter(([, content]) => content !== null)
    .map(([file, content]) => compareFile(network, `${site}/.well-known/${file}`, content))
  const sites = origins
    .filter((origin) => /^https?:/.test(origin))
    .map((origin) => reachOrigin(origin, network))
  return worstOf(await Promise.all([...files, ...sites]), ok(`${rpId} needs no files`))
}

/** An origin that does not exist is mostly misspelt, and then no passkey works there. */
async function reachOrigin(origin: string, network: Network): Promise<Finding> {
  try {
    await reachHost(origin, network)
    return ok(`${origin} answers`)
  } catch (error) {
    return warning(`${origin} cannot be reached from here: ${explainFailure(error, 'passkeys.origins')}`)
  }
}

/** Apps have an origin without a host. */
const isBelow = (host: string, rpId: string) => host === '' || host === rpId || host.endsWith(`.${rpId}`)

async function compareFile(network: OutsideContext['network'], url: string, wanted: unknown) {
  const remedy = 'pass that path on to poterne, or copy its answer (docs/passkeys.md)'
  try {
    const answer = await askOutside(network, url)
    if (answer.status !== 200) return failure(`${url} answers ${answer.status}: ${remedy}`)
    return Bun.deepEquals(await answer.json(), wanted)
      ? ok(`${url} is there`)
      : warning(`${url} is not what the configuration makes of it: ${remedy}`)
  } catch {
    return failure(`${url} cannot be read: ${remedy}`)
  }
}
