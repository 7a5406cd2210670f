/**
 * The client's address: the peer's, or the one that a trusted proxy reports. The part of X-Forwarded-For that a client
 * itself writes is never believed.
 */
import ipaddr from 'ipaddr.js'
import { toAddressRange, translated } from '../config/formats.ts'
import { stripBlanks } from './header-text.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Used if nothing is known about the peer, because its connection is already gone. */
const UNKNOWN_ADDRESS = 'unknown'

const BEHIND_A_PROXY = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'])

interface AddressFinderOptions {
  /** Addresses and CIDR blocks; anything else throws. */
  trustedProxies: string[]
  /** Called once, when X-Forwarded-For comes from a private or loopback peer that is not trusted. */
  onUntrustedProxy: (peer: string) => void
}

/**
 * Finds the client's address: the peer, or the first hop that is not a trusted proxy when X-Forwarded-For is read from
 * the right. An unreadable hop ends the search. IPv4 that was mapped or translated to IPv6 becomes IPv4.
 */
export function createAddressFinder({ trustedProxies, onUntrustedProxy }: AddressFinderOptions) {
  const blocks = trustedProxies.map(parseBlock)
  const isTrusted = (address: Address) => blocks.some((block) => contains(block, address))
  let warned = false

  return function findAddress(peer: string | undefined, forwardedFor: string | null): string {
    let address = parseAddress(peer ?? '')
    if (!address) return UNKNOWN_ADDRESS
    if (forwardedFor === null) return address.toString()
    if (!isTrusted(address)) {
      if (!warned && BEHIND_A_PROXY.has(address.range())) {
        warned = true
        onUntrustedProxy(address.toString())
      }
      return address.toString()
    }
    const hops = forwardedFor.split(',')
    while (hops.length > 0 && isTrusted(address)) {
      const hop = parseAddress(withoutPort(hops.pop() ?? ''))
      if (!hop) break
      address = hop
    }
    return address.toString()
  }
}

/**
 * The bucket in which an address is counted. An IPv6 client owns its whole /64 (RFC 6177), which is therefore one bucket
 * (`2001:db8::/64`); an IPv4 address is a bucket of its own.
 */
export function bucketAddress(address: string): string {
  const parsed = parseAddress(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address
  const network = new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])
  return `${network.toString()}/64`
}

/**
 * The networks that a bucket is counted in, each with a multiple of the number it may take. A /56 or a /48 holds many
 * /64, and must not have as many times the number.
 */
export function networksOf(bucket: string): { network: string; times: number }[] {
  const [address = '', length] = bucket.split('/')
  const parsed = parseAddress(address)
  const own = { network: bucket, times: 1 }
  if (length === undefined || !(parsed instanceof ipaddr.IPv6)) return [own]
  const { parts } = parsed
  const wide = new ipaddr.IPv6([...parts.slice(0, 3), parts[3]! & 0xff00, 0, 0, 0, 0])
  const wider = new ipaddr.IPv6([...parts.slice(0, 3), 0, 0, 0, 0, 0])
  return [own, { network: `${wide}/56`, times: 4 }, { network: `${wider}/48`, times: 16 }]
}

/**
 * The network that has a share of what the service sends to strangers: what one customer gets (an IPv6 /48), or the
 * smallest piece of IPv4 that is routed (/24). It returns null where the address is not public: that is the operator's
 * own network.
 */
export function networkOfSender(bucket: string): string | null {
  const [address = ''] = bucket.split('/')
  const parsed = parseAddress(address)
  if (parsed === null || !isPublicAddress(address)) return null
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, 3).join('.')}.0/24`
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 3), 0, 0, 0, 0, 0])}/48`
}

const NOT_PUBLIC = new Set([...BEHIND_A_PROXY, 'unspecified', 'broadcast', 'multicast'])

/** The clients behind a public address are one household or one office; a private one is the same in every network. */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address)
  return parsed !== null && !NOT_PUBLIC.has(parsed.range())
}

/** Tells whether a peer is one of these addresses and blocks. */
export function isTrustedPeer(peer: string | undefined, trustedProxies: string[]): boolean {
  const address = parseAddress(peer ?? '')
  return address !== null && trustedProxies.some((text) => contains(parseBlock(text), address))
}

const parseBlock = (text: string): [Address, number] => ipaddr.parseCIDR(toAddressRange(text))

function contains(block: [Address, number], address: Address): boolean {
  return block[0].kind() === address.kind() && address.match(block)
}

/** Strict, because ipaddr.js alone would also read `1` or `0x7f.1` as an address. */
function parseAddress(text: string): Address | null {
  const plain = stripBlanks(text).replace(/%.*$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain)
  return plain.includes(':') && ipaddr.IPv6.isValid(plain) ? translated(ipaddr.parse(plain)) : null
}

/** Some proxies write `203.0.113.7:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const text = stripBlanks(hop)
  return /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
}
