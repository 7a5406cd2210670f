/** Who has an account: neither status, headers and body of any answer tell it, nor the time it takes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { protectByApp, protectBySentCodes, signedIn } from '../helpers/authenticator.ts'
import { digestOf, lockAccount, setDigest } from '../helpers/database.ts'
import { newClient, seen } from '../helpers/limited-service.ts'
import {
  createPeople,
  expectSameTime,
  measure,
  measureContactChange,
  measureFactors,
  type ParityService,
  startParityService,
  timedCall,
  timedCalls,
} from '../helpers/parity.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { createStorage, differingShapes, startService, type TestService } from '../helpers/service.ts'
import { reduced, soaking } from '../helpers/soak.ts'
import { socialSettings } from '../helpers/social.ts'
import { expectEveryCallIsDescribed, strangersCalls } from '../helpers/strangers-calls.ts'
import { expectSameWork } from '../helpers/timing.ts'
import { useLimited } from '../helpers/use-service.ts'

setDefaultTimeout(240_000)

const HOUR = 3_600_000
const [OWNERS_DEVICE, STRANGERS_DEVICE] = ['the device of the owner', 'the device of the stranger']

/** What a stranger may send as a fingerprint, by turns: none, a random one, one that an account of their own knows. */
const guessedDevice = (call: number): { device_fingerprint?: string } =>
  [{}, { device_fingerprint: crypto.randomUUID() }, { device_fingerprint: STRANGERS_DEVICE }][call % 3]!

describe.each(differingShapes)('what an answer shows, on %s', (shape) => {
  const service = useLimited({
    shape,
    settings: { limits: { codes_per_day: 1000, sms_per_prefix_per_hour: 1000 } },
  })
  beforeAll(async () => {
    await signedIn(service, newEmail(), { device_fingerprint: STRANGERS_DEVICE })
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
    await signedIn(service, confirmed, device)
    await service.post('register', registration(waiting), newClient())
    await signedIn(service, locked, device)
    await lockAccount(service, locked, new Date())
    await protectBySentCodes(service, sent, device)
    await protectByApp(service, app, device)
    service.clock.advance(HOUR)
    return { nobody, confirmed, waiting, locked, sent, app }
  }

  /** What each kind of person's answers to these calls, one after the other, look like. */
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
      for (const newIdentifier of shape === 'redis' ? [newEmail, newPhone] : [newEmail]) {
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
    for (const { operation, body } of strangersCalls) {
      await expectAlike(newEmail, async (identifier) => [
        await service.post(operation, { ...body(identifier), ...device }, newClient()),
      ])
    }
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
        const { bearer } = await signedIn(service, newEmail())
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

describe.each(['embedded', 'redis'] as const)('the time an answer takes, on %s', (shape) => {
  let service: ParityService
  beforeAll(async () => {
    service = await startParityService(shape, { lightHash: true })
  })
  afterAll(() => service?.close())

  // A call with a fingerprint does all that one without does: in one shape it stands for both.
  const timed = timedCalls.filter(({ sendsDevice }) => sendsDevice || shape === 'redis' || soaking)
  // Each time with new people: after a hundred wrong codes in a row the answers are others.
  test.each(timed)('$name: the same for known and unknown, within 3 ms', async (call) => {
    await expectSameTime(async () => measure(service, call, await createPeople(service), reduced(15, 50)))
  })

  test('email/change: the same for a free address and one that somebody else has', async () => {
    const people = await createPeople(service)
    await expectSameTime(() => measureContactChange(service, people, reduced(20, 50)))
  })

  test('2fa/verify: the same whichever factor was wrong', async () => {
    await expectSameTime(async () => {
      const people = await createPeople(service)
      return measureFactors(service, people.get('two factors') as string, 30)
    })
  })
})

test('login with the full password hash: the same for known and unknown, and where there is no password', async () => {
  const provider = await startPretendProvider()
  const slow = await startParityService('redis', { settings: socialSettings(provider.issuer) })
  try {
    const [known, social] = [newEmail(), newEmail()]
    await slow.post('register', registration(known))
    provider.present(newPerson({ email: social, email_verified: true }))
    const id_token = await provider.idToken('n')
    const signedIn = await slow.post('social/p1/token', { id_token, nonce: 'n' })
    expect([signedIn.status, JSON.parse(signedIn.text).account.email]).toEqual([200, social])
    const classes = new Map([
      ['unknown', newEmail()],
      ['unconfirmed', known],
      ['by a provider, without password', social],
    ] as const)
    await expectSameTime(() => measure(slow, timedCall('login'), new Map(classes), 25))
  } finally {
    await slow.close()
    await provider.stop()
  }
})

describe('the work of a login where stored hashes have other parameters than today’s', () => {
  let storage: Awaited<ReturnType<typeof createStorage>>
  let service: TestService
  const people = new Map<string, string>([['unknown', newEmail()]])
  beforeAll(async () => {
    storage = await createStorage('postgres')
    const start = (password: Record<string, unknown>) =>
      startService({
        storage: storage.settings,
        settings: { password, codes: { attempts: 100, attempts_per_day: 10_000 } },
      })
    const before = await start({ memory_kib: 4096, iterations: 2 })
    for (const kind of ['older parameters', 'imported from bcrypt', 'without password']) {
      people.set(kind, (await before.signUp(newEmail())).identifier)
    }
    const bcrypt = await Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost: 8 })
    await setDigest(before, people.get('imported from bcrypt') as string, bcrypt)
    await setDigest(before, people.get('without password') as string, null)
    await before.close()
    service = await start({ memory_kib: 16_384, iterations: 2 })
    people.set('today’s parameters', (await service.signUp(newEmail())).identifier)
  })
  afterAll(async () => {
    await service?.close()
    await storage?.drop()
  })

  test('is the same for all of them and for unknown identifiers', async () => {
    const tryOf = (identifier: string) => () =>
      service.post('login', { identifier, password: 'not the password' })
    await expectSameWork([...people.values()].map(tryOf))
  })

  test('is not what tells which factor was wrong', async () => {
    const identifier = people.get('older parameters') as string
    const tryOf = (password: string) => () =>
      service.post('2fa/verify', { identifier, password, otp: '000000' })
    await expectSameWork([PASSWORD, 'not the password'].map(tryOf))
  })

  test('and the right password opens each, which then has today’s parameters', async () => {
    for (const kind of ['older parameters', 'imported from bcrypt']) {
      const identifier = people.get(kind) as string
      expect((await service.post('login', { identifier, password: PASSWORD })).status).toBe(200)
      expect(await digestOf(service, identifier)).toStartWith('$argon2id$v=19$m=16384,t=2,p=1$')
    }
  })
})
