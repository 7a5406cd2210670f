/** Whatever decides who may register: nobody learns by any call who has an account, from the first call to the limit. */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { lockAccount } from '../helpers/database.ts'
import { from, newClient, seen, startLimited } from '../helpers/limited-service.ts'
import { mergeSettings, type Settings, type TestService } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { use, useLimited } from '../helpers/use-service.ts'

const settings = (accounts: object): Settings => ({
  accounts: { password: 'optional', ...accounts },
  limits: { codes_per_day: 1000 },
})

describe('with limits on', () => {
  const open = useLimited({ settings: settings({}) })
  const startBeside = (accounts: object): TestService =>
    use(() => {
      const { storage, clock } = open
      return startLimited({ storage, clock, settings: mergeSettings(settings(accounts)) })
    }, open)
  const services = {
    closed: startBeside({ registration: 'closed' }),
    invited: startBeside({ registration: 'invitation' }),
    listed: startBeside({ registration_domains: ['listed.example'] }),
    terms: startBeside({ terms: '2026-11' }),
  }

  async function people(domain: string): Promise<Record<string, string>> {
    const contact = () => newEmail().replace('example.com', domain)
    const [known, locked, waiting, contested, claimed] = Array.from({ length: 5 }, contact) as [
      string,
      ...[string, string, string, string],
    ]
    for (const email of [known, locked])
      await asOperator(open, 'POST', 'accounts', { email, password: PASSWORD, verified: true })
    await lockAccount(open, locked, new Date())
    await open.post('register', registration(waiting), newClient())
    for (const password of [PASSWORD, 'the other password'])
      await open.post('register', registration(contested, password), newClient())
    const { account } = (await asOperator(open, 'POST', 'accounts', { email: contact(), verified: true }))
      .body
    await asOperator(open, 'PUT', `accounts/${account.uuid}/email`, { value: claimed })
    open.clock.advance(3_600_000)
    return { unknown: contact(), known, locked, waiting, contested, claimed }
  }

  async function answersOf(service: TestService, identifier: string, fields: object): Promise<unknown[]> {
    const create = { identifier, create: true, ...fields }
    const chosen = { password: PASSWORD, password_confirmation: PASSWORD }
    const wrong = { identifier, otp: '000000' }
    const calls: [string, object, number][] = [
      ['register', { ...registration(identifier, 'yet another password'), ...fields }, 5],
      ['verify-account', { ...wrong, ...fields }, 6],
      ['2fa/request-otp', create, 5],
      ['2fa/verify', { ...create, ...wrong }, 6],
      ['password/forgot', { identifier }, 5],
      ['password/reset', { ...wrong, ...chosen }, 6],
    ]
    const answers: unknown[] = []
    for (const [operation, body, times] of calls)
      for (let i = 0; i < times; i++)
        answers.push([operation, seen(await service.post(operation, body, newClient()))])
    return answers
  }

  const invite = async () => {
    const made = await asOperator(open, 'POST', 'invitations', { groups: ['staff'], uses: 100 })
    return made.body.code as string
  }
  const none = async () => ({})
  type Way = [string, keyof typeof services, string, () => Promise<object>]
  const ways: Way[] = [
    ['an invitation is wrong', 'invited', 'example.com', async () => ({ invitation: 'AAAA-BBBB-CCCC-DDDD' })],
    ['an invitation is right', 'invited', 'example.com', async () => ({ invitation: await invite() })],
  ]
  const further: Way[] = [
    ['registration is closed', 'closed', 'example.com', none],
    ['an invitation is missing', 'invited', 'example.com', none],
    ['the domain is not listed', 'listed', 'example.com', none],
    ['the domain is listed', 'listed', 'listed.example', none],
    ['the terms are missing', 'terms', 'example.com', none],
    ['the terms are accepted', 'terms', 'example.com', async () => ({ terms: '2026-11' })],
  ]
  test.each([...ways, ...reduced([], further)])('%s', async (_, mode, domain, fieldsOf) => {
    const fields = await fieldsOf()
    const shown: Record<string, unknown[]> = {}
    for (const [kind, identifier] of Object.entries(await people(domain)))
      shown[kind] = await answersOf(services[mode], identifier, fields)
    for (const [kind, answers] of Object.entries(shown))
      expect([kind, answers]).toEqual([kind, shown.unknown!])
  })

  test('guessing invitations waits after 20 wrong ones at one address, and a right one is taken there', async () => {
    const client = from('192.0.2.77')
    const invitation = await invite()
    const answers: string[] = []
    for (let i = 0; i < 22; i++) {
      const guess = { ...registration(newEmail()), invitation: `AAAA-BBBB-CCCC-DD${String(10 + i)}` }
      answers.push((await services.invited.post('register', guess, client)).body.code)
    }
    expect(answers).toEqual([...Array(20).fill('invalid_invitation'), ...Array(2).fill('too_many_requests')])
    const right = await services.invited.post('register', { ...registration(newEmail()), invitation }, client)
    expect(right.status).toBe(201)
  })
})
