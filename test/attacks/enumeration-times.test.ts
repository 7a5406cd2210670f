/** The time that an answer takes does not tell who has an account. The answers themselves: enumeration.test.ts. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { digestOf, setDigest } from '../helpers/database.ts'
import { pageForms } from '../helpers/page-forms.ts'
import {
  createPeople,
  creating,
  expectSameTime,
  measure,
  measureContactChange,
  measureCreating,
  measureFactors,
  measureForm,
  type ParityService,
  startParityService,
  timedCall,
  timedCalls,
} from '../helpers/parity.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { createStorage, startService, type TestService } from '../helpers/service.ts'
import { reduced, soaking } from '../helpers/soak.ts'
import { socialSettings } from '../helpers/social.ts'
import { expectSameWork } from '../helpers/timing.ts'

setDefaultTimeout(240_000)

const PEOPLE_SERVE = soaking ? 1 : 3

/** The same people for a few measurements, then new ones: making them takes as long as measuring. */
function sharedPeople<T>(create: () => Promise<T>): () => Promise<T> {
  let people: Promise<T>
  let taken = 0
  return async () => {
    if (taken++ % PEOPLE_SERVE === 0) people = create()
    return people
  }
}

/** The embedded database answers in turn, and is measured in a soak. */
const tried = reduced(['redis'] as const, ['embedded', 'redis'] as const)

describe.each(tried)('the time an answer takes, on %s', (shape) => {
  let service: ParityService
  beforeAll(async () => {
    service = await startParityService(shape, { lightHash: true })
  })
  afterAll(() => service?.close())

  // A call with a fingerprint does all that one without does, and stands for both. The calls that check a code are
  // tried on one shape: sending the codes takes four times as long on the embedded database.
  const isShort = ({ sendsDevice, codeFrom }: (typeof timedCalls)[number]) =>
    sendsDevice && (shape === 'redis' || codeFrom === undefined)
  const timed = timedCalls.filter((call) => soaking || isShort(call))
  /** A hundred wrong codes in a row change the answers. */
  const somePeople = sharedPeople(() => createPeople(service))
  test.each(timed)('$name: the same for known and unknown, within 3 ms', async (call) => {
    // A registration changes who somebody is.
    const take = call.takesIdentifier ? () => createPeople(service) : somePeople
    await expectSameTime(async () => measure(service, call, await take(), reduced(15, 50)))
  })

  // The forms call the same services: one shape shows what the pages add.
  const forms = shape === 'redis' ? pageForms.filter(({ page, path }) => page === path) : []
  test.each(forms)('the form $path: the same for known and unknown, within 3 ms', async (form) => {
    const take = form.path === '/sign-up' ? () => createPeople(service) : somePeople
    await expectSameTime(async () => measureForm(service, form, await take(), reduced(15, 50)))
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

test.each(tried)(
  '2fa/request-otp with create, an invitation and terms, on %s: the same for known and unknown',
  async (shape) => {
    const service = await startParityService(shape, { lightHash: true, settings: creating })
    try {
      await expectSameTime(() => measureCreating(service, reduced(25, 50)))
    } finally {
      await service.close()
    }
  },
)

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
