/** Ranges of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address. */
import ipaddr from 'ipaddr.js'
import { isAddressRange, toAddressRange } from '../config/formats.ts'

/** Returns the form that is compared, `10.0.0.0/8`. It is null for anything else, and for a range of every address. */
export function parseAddressRange(text: string): string | null {
  if (!isAddressRange(text)) return null
  const [address, length] = ipaddr.parseCIDR(toAddressRange(text))
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${length}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address}/${length}`)
  return `${network}/${length}`
}

/** Tells whether an address is in one of these ranges; an IPv4 address that comes as IPv6 is the IPv4 address. */
export function createAddressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map((range) => ipaddr.parseCIDR(range))
  return (address) => {
    if (!ipaddr.isValid(address)) return false
    const own = ipaddr.process(address)
    return parsed.some(([network, length]) => network.kind() === own.kind() && own.match(network, length))
  }
}

/** Tells whether every address of the first range is in the second one. */
export function isAddressWithin(inner: string, outer: string): boolean {
  const [network, length] = ipaddr.parseCIDR(inner)
  const [wider, shorter] = ipaddr.parseCIDR(outer)
  return network.kind() === wider.kind() && length >= shorter && network.match(wider, shorter)
}
