/** Checks whose address counts, with and without proxies. */
import { describe, expect, test } from 'bun:test'
import { bucketAddress, createAddressFinder } from '../../src/platform/http/client-address.ts'

function finder(trustedProxies: string[] = []) {
  const warnings: string[] = []
  const find = createAddressFinder({ trustedProxies, onUntrustedProxy: (peer) => warnings.push(peer) })
  return { find, warnings }
}

describe('without trusted proxies', () => {
  test('X-Forwarded-For is never believed', () => {
    expect(finder().find('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
  })

  test('a private peer that sends it is told of once', () => {
    const { find, warnings } = finder()
    for (const peer of ['203.0.113.9', '10.0.0.5', '10.0.0.6', '127.0.0.1']) find(peer, '198.51.100.1')
    expect(warnings).toEqual(['10.0.0.5'])
  })

  test.each(['127.0.0.1', '::1', '::ffff:192.168.0.1', 'fd00::1', 'fe80::1%eth0'])(
    '%s is such a peer',
    (peer) => {
      const { find, warnings } = finder()
      find(peer, null)
      expect(warnings).toEqual([])
      find(peer, '198.51.100.1')
      expect(warnings).toHaveLength(1)
    },
  )
})

describe('behind trusted proxies', () => {
  const trusted = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8']

  test.each([
    ['one hop', '198.51.100.1', '198.51.100.1'],
    ['what the client wrote itself stands left', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['several proxies', '1.1.1.1, 198.51.100.1, 10.1.1.1,fd00::7', '198.51.100.1'],
    ['only proxies', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    ['IPv6', '2001:DB8::1', '2001:db8::1'],
    ['IPv4-mapped', '::ffff:198.51.100.1', '198.51.100.1'],
    ['NAT64', '64:ff9b::198.51.100.1', '198.51.100.1'],
    ['NAT64 in hexadecimal digits, with a port', '[64:FF9B::c633:6401]:4711', '198.51.100.1'],
    ['stateless translation', '::ffff:0:198.51.100.1', '198.51.100.1'],
    ['a translated proxy', '198.51.100.1, 64:ff9b::10.0.0.9', '198.51.100.1'],
    ['a neighbour of NAT64', '64:ff9b:1::1', '64:ff9b:1::1'],
    ['a port', '198.51.100.1:4711', '198.51.100.1'],
    ['a port of IPv6', '[2001:db8::1]:4711', '2001:db8::1'],
    ['nothing', '', '10.0.0.2'],
    ['garbage', 'unknown', '10.0.0.2'],
    ['a number', '3221225985', '10.0.0.2'],
    ['half an address', '198.51.1', '10.0.0.2'],
    ['markup', '198.51.100.1<script>', '10.0.0.2'],
    ['garbage at the right', '198.51.100.1, _hidden', '10.0.0.2'],
    ['a foreign blank beside an address', '198.51.100.1, \u00a010.3.3.3', '10.0.0.2'],
    ['garbage behind a proxy', '198.51.100.1, ?, 10.3.3.3', '10.3.3.3'],
  ])('%s', (_name, header, address) => {
    const { find, warnings } = finder(trusted)
    expect(find('::ffff:10.0.0.2', header)).toBe(address)
    expect(warnings).toEqual([])
  })

  test.each(['::ffff:10.0.0.2', '::ffff:10.0.0.0/104', '64:ff9b::a00:2', '::ffff:0:10.0.0.0/124'])(
    'a proxy that is written %s is known by the IPv4 address that it has',
    (proxy) => {
      for (const peer of ['10.0.0.2', '::ffff:10.0.0.2', '64:ff9b::10.0.0.2'])
        expect(finder([proxy]).find(peer, '198.51.100.1')).toBe('198.51.100.1')
    },
  )

  test('a peer that is not one of them is itself', () => {
    expect(finder(trusted).find('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
  })

  test('a peer nobody knows has no address', () => {
    expect(finder(trusted).find(undefined, '198.51.100.1')).toBe('unknown')
  })

  test('something that is no block is refused at the start', () => {
    expect(() => finder(['10.0.0.0/99'])).toThrow()
    expect(() => finder(['proxy.example'])).toThrow()
  })
})

describe('buckets', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['unknown', 'unknown'],
  ])('%s counts in %s', (address, bucket) => {
    expect(bucketAddress(address)).toBe(bucket)
  })
})
