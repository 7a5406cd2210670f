/** Who is refused now, until when, by which limit and from where: read by administration, without counting. */
import { describe, expect, test } from 'bun:test'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone } from '../helpers/api-client.ts'
import { protectByApp } from '../helpers/authenticator.ts'
import { from, noon, startLimited } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { limitingShapes } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

const MINUTE_MS = 60_000

describe.each(limitingShapes)('what is refused on %s', (shape) => {
  const service = useLimited({ shape })
  const call = operatorOf(service)

  const limitsOf = async (uuid: string) => {
    await service.inside.services.events.flush()
    return (await call('GET', `accounts/${uuid}`)).body.account.limits
  }
  const limitedUuids = async (more = '') => {
    await service.inside.services.events.flush()
    const { body } = await call('GET', `accounts?limited=true${more}`)
    return body.items.map(({ uuid, limited }: { uuid: string; limited: boolean }) => [uuid, limited])
  }
  const guess = async (identifier: string, address: string, times = 10) => {
    for (let i = 0; i < times; i++)
      await service.post('login', { identifier, password: 'not this one' }, from(address))
  }
  const minutesFromNow = (minutes: number) =>
    new Date(service.clock.now().getTime() + minutes * MINUTE_MS).toISOString()
  const uuidOf = async (identifier: string) =>
    (await call('GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0].uuid

  test('wrong passwords are told with their address and their end, as often as one looks, and end with it', async () => {
    const { identifier } = await service.signUp(newEmail())
    const uuid = await uuidOf(identifier)
    expect(await limitsOf(uuid)).toEqual([])
    await guess(identifier, '203.0.113.7', 9)
    expect(await limitsOf(uuid)).toEqual([])
    await guess(identifier, '203.0.113.7', 1)
    const refusal = {
      limit: 'login',
      until: minutesFromNow(1),
      cause: 'wrong_passwords',
      address: '203.0.113.7',
    }
    for (let i = 0; i < 3; i++) expect(await limitsOf(uuid)).toEqual([refusal])
    expect(await limitedUuids()).toContainEqual([uuid, true])
    expect(await limitedUuids(`&query=${encodeURIComponent(identifier)}`)).toEqual([[uuid, true]])
    const other = await service.signUp(newEmail())
    const { body } = await call('GET', `accounts?query=${encodeURIComponent(other.identifier)}`)
    expect(body.items[0]).not.toHaveProperty('limited')
    expect(await limitedUuids(`&query=${encodeURIComponent(other.identifier)}`)).toEqual([])
    service.clock.advance(MINUTE_MS)
    expect(await limitsOf(uuid)).toEqual([])
    expect(await limitedUuids()).not.toContainEqual([uuid, true])
    // Nothing was counted: one try is open, and the next refusal lasts twice as long.
    await guess(identifier, '203.0.113.7', 1)
    expect(await limitsOf(uuid)).toEqual([{ ...refusal, until: minutesFromNow(2) }])
  })

  test('the networks of IPv6 are told as they are counted', async () => {
    const { identifier } = await service.signUp(newEmail())
    const uuid = await uuidOf(identifier)
    await guess(identifier, '2001:db8:1:2::5')
    expect(await limitsOf(uuid)).toMatchObject([{ cause: 'wrong_passwords', address: '2001:db8:1:2::/64' }])
    for (let i = 0; i < 3; i++) await guess(identifier, `2001:db8:1:${i + 16}::5`)
    const addresses = (await limitsOf(uuid)).map(({ address }: { address: string }) => address)
    expect(addresses).toContain('2001:db8:1::/56')
  })

  test('a known device that is refused is told, and lifting reaches it at its address, too', async () => {
    const person = await service.signUp(newPhone())
    const uuid = await uuidOf(person.identifier)
    const at = from('198.51.100.9')
    expect((await service.post('login', person, at)).status).toBe(200)
    await guess(person.identifier, '198.51.100.9')
    expect(await limitsOf(uuid)).toMatchObject([
      { limit: 'login', cause: 'wrong_passwords_device', address: '198.51.100.9' },
    ])
    expectRefusal(await service.post('login', person, at), 'too_many_requests')
    expect((await call('DELETE', `limits/${uuid}`)).status).toBe(200)
    expect(await limitsOf(uuid)).toEqual([])
    expect((await service.post('login', person, at)).status).toBe(200)
  })

  test('recovery codes that may not be tried from an address are told, and lifting ends it', async () => {
    const { person, recoveryCodes } = await protectByApp(service)
    const uuid = await uuidOf(person.identifier)
    const verify = (otp: string) => service.post('2fa/verify', { ...person, otp }, from('203.0.113.80'))
    for (let i = 0; i < 21; i++) await verify('0000-0000-0000-0000')
    expect(await limitsOf(uuid)).toMatchObject([
      { limit: 'codes', cause: 'recovery_codes', address: '203.0.113.80' },
    ])
    expectRefusal(await verify(recoveryCodes[0]!), 'too_many_requests')
    expect((await call('DELETE', `limits/${uuid}`)).status).toBe(200)
    expect(await limitsOf(uuid)).toEqual([])
    expect((await verify(recoveryCodes[0]!)).status).toBe(200)
  })

  test('codes that may not be tried, and those that are not sent, are told apart', async () => {
    const { identifier } = await service.signUp(newEmail())
    const uuid = await uuidOf(identifier)
    for (let i = 0; i < 20; i++)
      await service.post(
        'password/reset',
        {
          ...{ identifier, otp: '000000' },
          ...{ password: 'another long phrase', password_confirmation: 'another long phrase' },
        },
        from(`198.51.100.${20 + i}`),
      )
    const midnight = new Date(service.clock.now())
    midnight.setUTCHours(24, 0, 0, 0)
    expect(await limitsOf(uuid)).toEqual([
      { limit: 'codes', until: midnight.toISOString(), cause: 'wrong_codes', address: null },
    ])
    expect(await limitedUuids()).toContainEqual([uuid, true])
    const waits = await service.signUp(newEmail())
    const waiting = await uuidOf(waits.identifier)
    for (let i = 0; i < 6; i++) {
      await service.post('password/forgot', { identifier: waits.identifier }, from(`198.51.100.${60 + i}`))
      service.clock.advance(MINUTE_MS)
    }
    expect(await limitsOf(waiting)).toMatchObject([
      { limit: 'sending', cause: 'codes_in_hour', address: null },
    ])
    expect(await limitedUuids()).not.toContainEqual([waiting, true])
  })
})

test('a filter of another value is refused, and with limits off nobody is limited', async () => {
  await using service = await startLimited({ clock: noon(), settings: { limits: { enabled: false } } })
  const call = operatorOf(service)
  expectRefusal(await call('GET', 'accounts?limited=perhaps'), 'validation_failed')
  expect((await call('GET', 'accounts?limited=true')).body.items).toEqual([])
})
