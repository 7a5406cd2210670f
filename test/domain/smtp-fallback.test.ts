/** A second mail server takes over, and addresses that were refused for good are remembered for a day. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, registration } from '../helpers/api-client.ts'
import { freePort } from '../helpers/free-port.ts'
import { createTestClock, startService } from '../helpers/service.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(30_000)

const fallback = (port: number) => ({ host: '127.0.0.1', port, security: 'none' })
const lines = (log: string[]) => log.map((line) => JSON.parse(line))

test('what the first mail server does not take, the second one does, and the log names the first', async () => {
  const second = await startSmtp({ security: 'none', auth: null })
  const service = await startService({ settings: { smtp: { fallback: [fallback(second.port)] } } })
  const troubles = [
    () => service.smtp.behave({ refuse: { status: 451, at: 'recipient' } }),
    () => service.smtp.behave({ refuse: { status: 554, at: 'data', words: '5.7.1 not here' } }),
    () => service.smtp.stop(),
  ]
  for (const trouble of troubles) {
    await trouble()
    const email = newEmail()
    expect((await service.post('register', registration(email))).status).toBe(201)
    const { code: otp } = await second.waitForMailTo(email)
    expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
  }
  await service.delivered()
  expect(lines(service.log)).toContainEqual(
    expect.objectContaining({ gateway: 'smtp', detail: 'smtp_554', reason: '554 5.7.1 not here' }),
  )
  expect(lines(service.log).filter(({ detail }) => detail === 'smtp.fallback[0]')).toHaveLength(3)
  await service.close()
  await second.stop()
})

test('a message that neither takes is tried again, and refused only when both refuse it', async () => {
  await using service = await startService({
    settings: { smtp: { fallback: [fallback(await freePort())] } },
    clock: createTestClock(),
  })
  service.smtp.behave({ refuse: { status: 550, at: 'recipient' } })
  const email = newEmail()
  await service.post('register', registration(email))
  await waitFor(() =>
    lines(service.log).some(({ msg, outcome }) => msg === 'message' && outcome === 'failed'),
  )
  service.smtp.behave({})
  service.clock.advance(3000)
  await service.smtp.waitForMailTo(email)
})

test('an address that was refused for good is shown as such to its owner and to administrators, for a day', async () => {
  await using service = await startService({ clock: createTestClock() })
  const { person, bearer, account } = await service.signedIn()
  const shown = async () => [
    (await service.get('me/security', { bearer })).body.email_refused_at,
    (await service.inside.services.directory.get(account.uuid)).email_refused_at,
  ]
  expect(await shown()).toEqual([undefined, undefined])
  service.smtp.behave({ refuse: { status: 550, at: 'recipient', words: '5.1.1 no such user' } })
  const refusedFrom = service.clock.now()
  await service.post('2fa/request-otp', { identifier: person.identifier })
  await service.delivered()
  const [own, administrations] = await shown()
  expect(Date.parse(own)).toBeGreaterThanOrEqual(refusedFrom.getTime())
  expect(administrations).toBe(own)
  service.clock.advance(86_400_000)
  const later = (await service.logIn(person)).access_token
  expect((await service.get('me/security', { bearer: later })).body).not.toHaveProperty('email_refused_at')
})

test('an address that was refused for good gets nothing more that strangers cause, for a day', async () => {
  await using service = await startService({ clock: createTestClock() })
  const refused = newEmail()
  service.smtp.behave({ refuse: { status: 550, at: 'recipient', words: '5.1.1 no such user' } })
  await service.post('register', registration(refused))
  await service.delivered()
  service.smtp.behave({})
  expect(await service.inside.services.refusedAddresses.isRefused(refused.toUpperCase())).toBe(true)
  await service.post('resend-verification', { identifier: refused })
  await service.delivered()
  expect(lines(service.log)).toContainEqual(
    expect.objectContaining({ outcome: 'refused', detail: 'address_refused' }),
  )
  expect(service.smtp.messages).toHaveLength(0)
  service.clock.advance(86_400_000)
  await service.post('resend-verification', { identifier: refused })
  await service.smtp.waitForMailTo(refused)
})
