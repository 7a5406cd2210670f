/**
 * A registration of a passkey reads no address that the caller names, whatever its attestation says. The statement of
 * each format holds certificates with addresses for their revocation, which the library would fetch.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { chainNaming } from '../helpers/attestation-chain.ts'
import { createPasskey } from '../helpers/passkey-authenticator.ts'
import { useService } from '../helpers/use-service.ts'

setDefaultTimeout(20_000)

const origin = 'https://app.example.com'
const settings = { passkeys: { rp_id: 'example.com', origins: [origin] } }

/** The formats come from the library's own text, so that a format that a new version knows is tried as well. */
const source = new URL(
  'registration/verifyRegistrationResponse.js',
  import.meta.resolve('@simplewebauthn/server'),
)
const text = await Bun.file(source).text()
const formats = [...text.matchAll(/fmt === '([^']+)'/g)].map(([, name]) => name as string)

let asked: string[] = []
let listener: ReturnType<typeof Bun.serve>
const fetched = spyOn(globalThis, 'fetch')
beforeAll(() => {
  listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      asked.push(new URL(url).pathname)
      return new Response('no list')
    },
  })
})
beforeEach(() => {
  asked = []
})
afterAll(async () => {
  fetched.mockRestore()
  await listener.stop(true)
})

/** A new passkey whose attestation of that format names the listener, and a file. */
const attested = (options: Parameters<typeof createPasskey>[0], fmt: string) =>
  createPasskey(options, origin, {
    fmt,
    attStmt: chainNaming([`http://127.0.0.1:${listener.port}/${fmt}`, 'file:///dev/null']),
  })

test('the library knows the formats that are tried here, and fetches what one of them names', async () => {
  expect(formats).toEqual(
    expect.arrayContaining(['none', 'packed', 'android-key', 'tpm', 'apple', 'fido-u2f']),
  )
  const options = { challenge: 'AAAA', rp: { id: 'example.com' }, user: { id: 'AAAA' } }
  await verifyRegistrationResponse({
    response: attested(options, 'android-key').credential as never,
    expectedChallenge: 'AAAA',
    expectedOrigin: origin,
    expectedRPID: 'example.com',
  }).catch(() => null)
  expect(asked).toContain('/android-key')
})

describe('a registration', () => {
  const service = useService({ settings })

  test.each(formats)('attested as %s is taken without its statement, and nothing is fetched', async (fmt) => {
    const { person, bearer } = await service.signedIn()
    const { password } = person
    const { body } = await service.post('passkeys/registration/options', { password }, { bearer })
    const { credential } = attested(body.options, fmt)
    const calls = fetched.mock.calls.length
    const answer = await service.post('passkeys/registration', { credential }, { bearer })
    const addresses = fetched.mock.calls.slice(calls).map(([address]) => String(address))
    expect(answer.status).toBe(201)
    expect(addresses.filter((address) => !address.includes('/passkeys/registration'))).toEqual([])
    expect(asked).toEqual([])
  })
})
