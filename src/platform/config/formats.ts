/** The formats of configured texts: predicates and one decoder, which know neither keys nor other values. */
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { isSupportedCountry } from 'libphonenumber-js/max'
import { canonicalTag } from '../../texts/languages.ts'

const UNSEEN = /[\s\p{Cc}]/u

/**
 * Reads the addresses of the configuration. The URL parser ignores blanks and control characters, takes `\` for `/`, and
 * fills in slashes that are missing, where other programs read another address: none of that passes, nor does a user.
 */
function parseUrl(text: string): URL | null {
  if (UNSEEN.test(text) || text.includes('\\') || /^https?:(?!\/\/[^/])/i.test(text)) return null
  const url = URL.parse(text)
  return url?.username || url?.password ? null : url
}

/** Returns what is wrong with an address that `parseUrl` does not read; null where it is none at all. `instead`: where a user belongs. */
export function explainAddress(text: string, instead = ''): string | null {
  if (text.includes('\\')) return 'expected "/" instead of "\\"'
  const { username, password } = URL.parse(text) ?? {}
  return username || password ? `expected an address without a user or a password before "@"${instead}` : null
}

const isWeb = (url: URL) => url.protocol === 'https:' || url.protocol === 'http:'

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1')

export function isLoopbackHost(host: string): boolean {
  const bare = withoutBrackets(host)
  if (bare.toLowerCase() === 'localhost') return true
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare).range() === 'loopback'
  return ipaddr.IPv6.isValid(bare) && ipaddr.IPv6.parse(bare).range() === 'loopback'
}

const HOST_HEADER = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{0,5})?$/i

/** Returns the name in a `Host` header. Whatever else an address may hold, such as a user before the name, makes it none. */
export const hostNameOf = (header: string | null): string =>
  withoutBrackets(HOST_HEADER.exec(header ?? '')?.[1] ?? '').toLowerCase()

const NEAR_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal'])
const NEAR_NAMES = /\.(local|internal|lan|home\.arpa)$/

/**
 * Tells whether what is sent there may leave the operator's own network: loopback, private and link-local addresses do
 * not, nor do names without a dot and those of local domains.
 */
export function isPublicHost(host: string): boolean {
  const bare = withoutBrackets(host).toLowerCase().replace(/\.$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(bare) || bare.includes(':')) {
    return !ipaddr.isValid(bare) || !NEAR_RANGES.has(ipaddr.process(bare).range())
  }
  return bare.includes('.') && !NEAR_NAMES.test(bare)
}

/** A web address over which everybody on the way could read along. */
export function isOpenToAll(text: string): boolean {
  const url = parseUrl(text)
  return url?.protocol === 'http:' && isPublicHost(url.hostname)
}

/** `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`. */
export function parseListenAddress(text: string): { host: string; port: number } | null {
  const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? []
  const bare = withoutBrackets(host)
  const number = Number(port)
  return isHost(bare) && bare.includes(':') === host.startsWith('[') && number < 65_536
    ? { host: bare, port: number }
    : null
}

/** Port 0, any free one, is for `--dev` alone. */
export const isListenAddress = (text: string): boolean => (parseListenAddress(text)?.port ?? 0) > 0

/** A host name or an address; no port, no brackets. */
export function isHost(text: string): boolean {
  if (text.includes(':')) return ipaddr.IPv6.isValid(text)
  if (/^[\d.]+$/.test(text)) return ipaddr.IPv4.isValidFourPartDecimal(text)
  return (
    text.length <= 253 && /^[a-z\d_]([a-z\d_-]*[a-z\d_])?(\.[a-z\d_]([a-z\d_-]*[a-z\d_])?)*\.?$/i.test(text)
  )
}

export function isWebUrl(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && isWeb(url)
}

/** A web address without fragment. */
export const isHookUrl = (text: string): boolean => isWebUrl(text) && !text.includes('#')

/** A host name with a dot, as a browser shows it. */
export const isDomain = (text: string): boolean => isHost(text) && /^[^:]*\.[a-z][a-z\d-]*$/i.test(text)

/** `example.com`, or `*.example.com` for the names below it. */
export const isDomainPattern = (text: string): boolean => isDomain(text.replace(/^\*\./, ''))

/** A readable file that holds at least one certificate in PEM. */
export function isCertificateFile(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes('-----BEGIN CERTIFICATE-----')
  } catch {
    return false
  }
}

/** Exactly what a browser sends as `Origin`: so a wildcard, which would never match, is none. */
export function isOrigin(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && isWeb(url) && url.origin === text && !text.includes('*')
}

/** Returns how to write an origin that is spelled in another way than browsers do; null for anything else. */
export function explainOrigin(text: string): string | null {
  const url = UNSEEN.test(text) ? null : URL.parse(text)
  if (url === null || !isWeb(url) || url.href !== `${url.origin}/` || /[*?#]|\/$/.test(text)) return null
  return url.origin === text ? null : `clients compare it letter for letter: write "${url.origin}"`
}

/** Web views and extensions of browsers have schemes of their own, behind which a host has no usual form. */
export function isCallingOrigin(text: string): boolean {
  if (/^https?:/i.test(text)) return isOrigin(text)
  return /^(?!file:|data:|blob:|javascript:|about:)[a-z][a-z\d+.-]*:\/\/[A-Za-z\d._-]+(:\d{1,5})?$/.test(text)
}

/** The same, over TLS only. */
export const isSecureOrigin = (text: string): boolean => isOrigin(text) && text.startsWith('https:')

/** A domain of at least two labels that is no address, or localhost: what WebAuthn takes as a relying party. */
export function isRelyingPartyId(text: string): boolean {
  if (text === 'localhost') return true
  return (
    isHost(text) &&
    text === text.toLowerCase() &&
    /^[a-z\d-]+(\.[a-z\d-]+)+$/.test(text) &&
    !/^[\d.]+$/.test(text)
  )
}

/** Recognizes a place where a passkey is used: a site, or an Android app by the hash of its certificate. */
export function isPasskeyOrigin(text: string): boolean {
  if (/^android:apk-key-hash:[\w-]{43}$/.test(text)) return true
  const url = parseUrl(text)
  return isOrigin(text) && (url?.protocol === 'https:' || url?.hostname === 'localhost')
}

export const isSecureUrl = (text: string): boolean => parseUrl(text)?.protocol === 'https:'

/** An OpenID issuer: https, or http on loopback only. */
export function isIssuer(text: string): boolean {
  const url = parseUrl(text)
  return (
    url !== null &&
    !/[?#]/.test(text) &&
    (url.protocol === 'https:' || (isWeb(url) && isLoopbackHost(url.hostname)))
  )
}

/**
 * Recognizes a place to which a signed-in user may be sent: https, http on loopback, or an app's own scheme. Such a
 * scheme holds a dot (RFC 8252 section 7.1), so that `javascript:` and `data:` never pass.
 */
export function isRedirectUri(text: string): boolean {
  const url = parseUrl(text)
  // Browsers are led there by a header, which takes nothing but the characters of an address (RFC 3986).
  if (!url || !/^[!-~]+$/.test(text) || /[#*]/.test(text)) return false
  if (url.protocol === 'https:') return true
  return url.protocol === 'http:' ? isLoopbackHost(url.hostname) : url.protocol.includes('.')
}

/**
 * An address of an application. It travels in the query of the pages, together with the state of the application. One over
 * http in the operator's own network is for applications of others alone (checks.ts).
 */
export const isApplicationUri = (text: string): boolean =>
  text.length <= 200 &&
  (isRedirectUri(text) || (isNearHttpUrl(text) && /^[!-~]+$/.test(text) && !/[#*]/.test(text)))

/** Tells whether it is a web address over http whose host is not public. */
export const isNearHttpUrl = (text: string): boolean =>
  parseUrl(text)?.protocol === 'http:' && !isOpenToAll(text)

/** An application is told there that a session ended: https, or http in the operator's own network. */
export const isBackchannelUri = (text: string): boolean =>
  isWebUrl(text) && !isOpenToAll(text) && !text.includes('#')

/** Languages are compared in their usual spelling. */
export const isLanguageTag = (text: string): boolean => canonicalTag(text) === text

/** The prefixes of NAT64 (RFC 6052, 2.1) and of stateless translation (RFC 7915): behind them is an IPv4 address. */
const TRANSLATED = ['64:ff9b::', '::ffff:0:0:0'].map((prefix) => ipaddr.IPv6.parse(prefix))

/** What was mapped or translated from IPv4 is the IPv4 address. */
export function translated(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (!TRANSLATED.some((prefix) => address.match(prefix, 96))) return address
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

/** A range that contains every address would make every client a trusted proxy. */
const holdsEverybody = (range: string) => /\/0+$/.test(range)

/** A range such as `10.0.0.0/8`, or one address. Octal and shortened forms are refused, because they are ambiguous. */
export function isAddressRange(text: string): boolean {
  const isRange = text.includes('/')
    ? ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)
    : ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
  return isRange && !holdsEverybody(toAddressRange(text))
}

/** One address as the range that holds only it; what is translated from IPv4 in IPv4, as addresses are read. */
export function toAddressRange(text: string): string {
  const range = text.includes('/') ? text : `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`
  const [address, bits] = ipaddr.parseCIDR(range)
  const meant = translated(address)
  return meant === address || bits < 96 ? range : `${meant}/${bits - 96}`
}

/** Expects what `toAddressRange` returns. */
export function isLoopbackRange(range: string): boolean {
  const [address, bits] = ipaddr.parseCIDR(range)
  return address.range() === 'loopback' && bits >= (address.kind() === 'ipv4' ? 8 : 128)
}

/** ISO 3166 alpha-2, capital letters, with phone numbers of its own. */
export const isCountry = (text: string): boolean => isSupportedCountry(text)

const address = /^[a-z\d.!#$%&'*+/=?^_`{|}~-]+@[\p{L}\d]([\p{L}\d.-]*[\p{L}\d])?$/iu

/** One mailbox, `name@host` or `Display Name <name@host>`. A second one, or a line break, would reach the headers. */
export function isMailbox(text: string): boolean {
  const named = /^(?:[^<>"@,;:\\\p{Cc}]*|"[^"\\\p{Cc}]*") ?<([^<>]+)>$/u.exec(text)
  return address.test(named?.[1] ?? text)
}

/** It stands in messages as it is, where an apostrophe would become a curly one. */
export const isSupport = (text: string): boolean =>
  /^[!-&(-~]{1,100}$/.test(text) && (address.test(text) || isSecureUrl(text))

export const isHeaderName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(text)
export const isHeaderValue = (text: string): boolean => !/[\p{Cc}]/u.test(text)

/** An elliptic-curve private key (P-256) in PEM, as Apple issues it. */
export function isSigningKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}

/** 32 bytes from hex or base64 (also base64url); null for anything else. */
export function decodeSecret(text: string): Uint8Array | null {
  if (/^[\da-f]{64}$/i.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  if (!/^[\w+/-]{43}=?$/.test(text)) return null
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  return bytes.length === 32 ? bytes : null
}

/** Recognizes the username of an account, in lower case. */
export const isUsername = (text: string): boolean => /^[a-z\d][a-z\d._-]{1,31}$/.test(text)

/** Recognizes the name of a group of accounts. */
export const isGroupName = (text: string): boolean => /^[a-z\d][a-z\d._-]{0,63}$/.test(text)

/** Tells whether nobody on the way can change what is read there. */
export const isHttpsOrLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))

/** An https address, or http on loopback, without fragment, in its usual spelling. */
export function isHomeAddress(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && !text.includes('#') && url.href === text && isHttpsOrLoopback(url)
}

/** Tells whether it is an address, and not the path of a file. */
export const isAddress = (text: string): boolean => /^[a-z]+:\/\//i.test(text)

/** A place of releases: https, http on loopback, or a file. */
export function isReleaseLocation(text: string): boolean {
  if (!isAddress(text)) return true
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'file:' || isHttpsOrLoopback(url))
}

/** The same; a `*` may end it, after a `/` of the path. */
export function isReturnAddress(text: string): boolean {
  const stem = text.endsWith('*') ? text.slice(0, -1) : text
  if (stem.includes('*') || !isHomeAddress(stem)) return false
  return stem === text || (stem.endsWith('/') && !stem.includes('?'))
}

/** A uuid names accounts. */
export const isApplicationId = (text: string): boolean =>
  /^[A-Za-z0-9._-]{2,64}$/.test(text) && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Stands for the name of the backup in `backup.after`. */
export const BACKUP_FILE = '{file}'
