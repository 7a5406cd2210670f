/** Owners are told of new devices, and operators of attacks, without asking. */
import { expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, type Person } from '../helpers/api-client.ts'
import { from } from '../helpers/limited-service.ts'
import { useLimited } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const service = useLimited({
  settings: {
    accounts: { notify_new_device: true },
    admin: { notify: 'ops@example.com' },
    limits: { wrong_codes_alarm: 3 },
  },
})

const signIn = async (person: Person, device: Record<string, string>, address?: string) => {
  const answer = await service.post('login', { ...person, ...device }, address ? from(address) : {})
  expect(answer.status).toBe(200)
}
const noticesTo = async ({ identifier }: Person) => {
  await service.delivered()
  return service.inbox.textsTo(identifier).filter((text) => text.includes('Nouvelle connexion'))
}

test('once for each device, not at the first sign-in, and not from a known address', async () => {
  const person = await service.signUp(newEmail())
  await signIn(person, { device_fingerprint: 'first' }, '203.0.113.7')
  expect(await noticesTo(person)).toEqual([])
  await signIn(person, { device_fingerprint: 'second', device_name: 'A phone' }, '198.51.100.9')
  const [notice, ...others] = await noticesTo(person)
  expect(others).toEqual([])
  expect(notice).toContain('A phone')
  await signIn(person, { device_fingerprint: 'second' }, '198.51.100.23')
  await signIn(person, { device_fingerprint: 'third' }, '203.0.113.7')
  expect(await noticesTo(person)).toHaveLength(1)
})

test('at most five a day', async () => {
  const person = await service.signUp(newEmail())
  for (let count = 0; count < 8; count++) await signIn(person, { device_fingerprint: `device ${count}` })
  expect(await noticesTo(person)).toHaveLength(5)
})

test('nobody is told where a sign-in shows nothing by which it could be known again', async () => {
  const person = await service.signUp(newEmail())
  for (let count = 0; count < 3; count++) await signIn(person, {}, '10.0.0.7')
  expect(await noticesTo(person)).toEqual([])
})

test('the operator is told of a new administrator, of more rights and of a new token, and not of fewer rights', async () => {
  const { identifier: account } = await service.signUp(newEmail())
  const told = () =>
    service.inbox.textsTo('ops@example.com').filter((text) => text.includes('administrator.added')).length
  const steps: [() => ReturnType<typeof asOperator>, number][] = [
    [() => asOperator(service, 'POST', 'administrators', { account, role: 'support' }), 1],
    [() => asOperator(service, 'POST', 'administrators', { account, role: 'viewer' }), 1],
    [() => asOperator(service, 'POST', 'administrators', { account, role: 'owner' }), 2],
    [() => asOperator(service, 'POST', 'administrators', { account, role: 'owner' }), 2],
    [
      () =>
        asOperator(service, 'POST', 'tokens', {
          name: 'test',
          scopes: ['accounts:read'],
          expires_in: '1d',
        }),
      3,
    ],
  ]
  for (const [step, count] of steps) {
    expect((await step()).status).toBeLessThan(300)
    await waitFor(async () => {
      await service.delivered()
      return told() >= count
    })
    expect(told()).toBe(count)
  }
})

test('the operator is told of many wrong codes, at most three times an hour', async () => {
  const { identifier } = await service.signUp(newEmail())
  await service.post('password/forgot', { identifier })
  const chosen = { password: 'another horse battery', password_confirmation: 'another horse battery' }
  for (let minute = 0; minute < 5; minute++) {
    for (let count = 0; count < 4; count++)
      await service.post('password/reset', { identifier, otp: '000000', ...chosen })
    service.clock.advance(61_000)
  }
  const told = () =>
    service.inbox.textsTo('ops@example.com').filter((text) => text.includes('Beaucoup de codes')).length
  await waitFor(() => told() >= 3)
  await service.delivered()
  expect(told()).toBe(3)
})
