/** Neither status nor headers nor body of any answer tell who has an account. Its time: enumeration-times.test.ts. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { lockAccount } from '../helpers/database.ts'
import { newClient, seen } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { limitingShapes } from '../helpers/service.ts'
import { expectEveryCallIsDescribed, strangersCalls } from '../helpers/strangers-calls.ts'
import { useLimited } from '../helpers/use-service.ts'

const HOUR = 3_600_000
const [OWNERS_DEVICE, STRANGERS_DEVICE] = ['the device of the owner', 'the device of the stranger']

/**
 * Returns the fingerprint that a stranger may send, by turns: none, a random one, one that an account of their own
 * knows.
 */
const guessedDevice = (call: number): { device_fingerprint?: string } =>
  [{}, { device_fingerprint: crypto.randomUUID() }, { device_fingerprint: STRANGERS_DEVICE }][call % 3]!

describe.each(limitingShapes)('what an answer shows, on %s', (shape) => {
  const service = useLimited({
    shape,
    settings: { limits: { codes_per_day: 1000, sms_per_prefix_per_hour: 1000 } },
  })
  setDefaultTimeout(240_000)
  beforeAll(async () => {
    await service.signedIn(newEmail(), { device_fingerprint: STRANGERS_DEVICE })
  })

  /** Nobody, an account, one that waits, a locked one, two with two factors. The confirmed ones know a device. */
  async function everybody(newIdentifier: () => string) {
    const [nobody, confirmed, waiting, locked, sent, app] = Array.from({ length: 6 }, newIdentifier) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    const device = { device_fingerprint: OWNERS_DEVICE }
    await service.signedIn(confirmed, device)
    await service.post('register', registration(waiting), newClient())
    await service.signedIn(locked, device)
    await lockAccount(service, locked, new Date())
    await protectBySentCodes(service, sent, device)
    await protectByApp(service, app, device)
    service.clock.advance(HOUR)
    return { nobody, confirmed, waiting, locked, sent, app }
  }

  /** Demands that each kind of person gets like answers to these calls, one after the other. */
  async function expectAlike(
    newIdentifier: () => string,
    answersOf: (identifier: string) => Promise<Answer[]>,
  ) {
    const shown: [string, unknown[]][] = []
    for (const [kind, identifier] of Object.entries(await everybody(newIdentifier)))
      shown.push([kind, (await answersOf(identifier)).map(seen)])
    const [[, expected] = ['', []]] = shown
    for (const [kind, answers] of shown) expect([kind, answers]).toEqual([kind, expected])
  }

  const repeatedly = async (times: number, call: (index: number) => Promise<Answer>) => {
    const answers: Answer[] = []
    for (let i = 0; i < times; i++) answers.push(await call(i))
    return answers
  }

  test('every call that names somebody is tried', async () => {
    await expectEveryCallIsDescribed(service)
  })

  test.each(strangersCalls)(
    '$operation: the same for everybody, call after call, and when a limit answers',
    async ({ operation, body, untilRefused }) => {
      for (const newIdentifier of [newEmail, newPhone]) {
        await expectAlike(newIdentifier, async (identifier) => {
          const client = newClient()
          const answers = await repeatedly(untilRefused, (call) =>
            service.post(operation, { ...body(identifier), ...guessedDevice(call) }, client),
          )
          // The last one alone: no fingerprint gains a try.
          expect(answers.map(({ status }) => status === 429)).toEqual([
            ...Array(untilRefused - 1).fill(false),
            true,
          ])
          return answers
        })
      }
    },
  )

  test('2fa/verify, with passwords and without by turns: the same for everybody', async () => {
    await expectAlike(newEmail, (identifier) =>
      repeatedly(44, (i) => {
        const password = i % 2 && { password: 'not this one' }
        const body = { identifier, otp: '000000', ...password, ...guessedDevice(i) }
        return service.post('2fa/verify', body, newClient())
      }),
    )
  })

  test.each(strangersCalls.filter(({ codeFrom }) => codeFrom))(
    '$operation: wrong codes, a registration by the stranger, wrong codes again: the same for everybody',
    async ({ operation, body }) => {
      await expectAlike(newEmail, async (identifier) => {
        const wrong = (call = 0) =>
          service.post(operation, { ...body(identifier), ...guessedDevice(call) }, newClient())
        const before = await repeatedly(21, wrong)
        await service.post('register', registration(identifier, 'the stranger’s password'), newClient())
        return [...before, await wrong()]
      })
    },
  )

  test('on a device that the account knows: the same as for nobody, until a limit answers', async () => {
    const device = { device_fingerprint: OWNERS_DEVICE }
    // The one that takes the identifier comes last, so that nobody has it until then.
    const calls = strangersCalls.toSorted((a, b) => Number(!!a.takesIdentifier) - Number(!!b.takesIdentifier))
    await expectAlike(newEmail, async (identifier) => {
      const answers: Answer[] = []
      for (const { operation, body } of calls)
        answers.push(await service.post(operation, { ...body(identifier), ...device }, newClient()))
      return answers
    })
  })

  test('what is no identifier at all is answered like one that nobody has', async () => {
    for (const { operation, body, takesIdentifier } of strangersCalls) {
      if (takesIdentifier) continue
      const expected = seen(await service.post(operation, body(newEmail()), newClient()))
      for (const identifier of ['nonsense', 'a@b', '@', '', '+1', 'x'.repeat(5000), 'é@exämple.com']) {
        expect(seen(await service.post(operation, body(identifier), newClient()))).toEqual(expected)
      }
    }
  })

  test('a contact that somebody else has is answered like a free one, call after call, and when a limit answers', async () => {
    for (const [kind, newContact] of [['email', newEmail] as const, ['phone', newPhone] as const]) {
      const taken = (await service.signUp(newContact())).identifier
      service.clock.advance(HOUR)
      const answersFor = async (contact: string) => {
        const { bearer } = await service.signedIn()
        const call = { bearer, ...newClient() }
        const asked = () => service.post(`${kind}/change`, { [kind]: contact, password: PASSWORD }, call)
        const tried = () => service.post(`${kind}/confirm`, { otp: 'not a code' }, call)
        return (await repeatedly(16, (i) => (i % 2 === 0 ? asked() : tried()))).map(seen)
      }
      const free = await answersFor(newContact())
      expect(await answersFor(taken)).toEqual(free)
      expect(free.some(({ status }) => status === 429)).toBe(true)
    }
  })

  test('a wrong password tells nothing of an unconfirmed or locked account, the right one does', async () => {
    const { waiting, locked } = await everybody(newEmail)
    const logIn = (identifier: string) =>
      service.post('login', { identifier, password: PASSWORD }, newClient())
    expectRefusal(await logIn(waiting), 'account_unconfirmed')
    expectRefusal(await logIn(locked), 'account_locked')
  })
})
