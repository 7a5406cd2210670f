/** Guessing, replaying and misusing one-time codes, through HTTP, on every storage shape. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { noon, seen } from '../helpers/limited-service.ts'
import { racingShapes, startService, type TestService, testsOn } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const MINUTE = 60_000
const outcome = ({ status, body }: Answer) => `${status} ${body.code ?? 'ok'}`
const wrongOnes = (right: string, count: number) =>
  Array.from({ length: count }, (_, i) => String((Number(right) + 1 + i) % 1_000_000).padStart(6, '0'))

/** Each way to get a code for an address, and to use it. */
const usesOf = (service: () => TestService) => ({
  confirmation: {
    ask: async (email: string) => void (await service().post('register', registration(email))),
    use: (identifier: string, otp: string) => service().post('verify-account', { identifier, otp }),
  },
  two_factor: {
    ask: async (email: string) => {
      await service().signUp(email)
      await service().post('2fa/request-otp', { identifier: email })
    },
    use: (identifier: string, otp: string) => service().post('2fa/verify', { identifier, otp }),
  },
  password_reset: {
    ask: async (email: string) => {
      await service().signUp(email)
      await service().post('password/forgot', { identifier: email })
    },
    use: (identifier: string, otp: string) =>
      service().post('password/reset', {
        identifier,
        otp,
        password: 'another good one',
        password_confirmation: 'another good one',
      }),
  },
})

describe.each(racingShapes)('codes on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, clock: noon() })

  const uses = usesOf(() => service)
  const many = reduced(50, 200)

  describe.each(Object.entries(uses))('for %s', (_purpose, { ask, use }) => {
    async function codeFor(email = newEmail()) {
      await ask(email)
      return { email, code: await service.inbox.nextCode(email) }
    }

    test('five wrong ones kill a code, four do not', async () => {
      const lucky = await codeFor()
      for (const wrong of wrongOnes(lucky.code, 4)) {
        expect(outcome(await use(lucky.email, wrong))).toBe('422 invalid_code')
      }
      expect((await use(lucky.email, lucky.code)).status).toBeLessThan(300)
      const late = await codeFor()
      for (const wrong of wrongOnes(late.code, 5)) await use(late.email, wrong)
      expect(outcome(await use(late.email, late.code))).toBe('422 invalid_code')
    })

    raced(
      `of ${many} parallel wrong guesses five are compared, and the right code is dead afterwards`,
      async () => {
        const { email, code } = await codeFor()
        const answers = await Promise.all(wrongOnes(code, many).map((guess) => use(email, guess)))
        const outcomes = answers.map(outcome)
        expect(outcomes.filter((one) => one === '422 invalid_code')).toHaveLength(20)
        expect(outcomes.filter((one) => one === '429 too_many_attempts')).toHaveLength(many - 20)
        expect(outcome(await use(email, code))).toBe('429 too_many_attempts')
        service.clock.advance(24 * 60 * MINUTE)
        expect(outcome(await use(email, code))).toBe('422 invalid_code')
      },
    )

    raced(`of ${many} parallel guesses one of which is right at most one passes`, async () => {
      const { email, code } = await codeFor()
      const guesses = [...wrongOnes(code, many / 2), code, ...wrongOnes(code, many / 2 - 1)]
      const answers = await Promise.all(guesses.map((guess) => use(email, guess)))
      expect(answers.filter(({ status }) => status < 300).length).toBeLessThanOrEqual(1)
      expect((await use(email, code)).status).toBeGreaterThanOrEqual(400)
    })

    test('a code is used once', async () => {
      const { email, code } = await codeFor()
      expect((await use(email, code)).status).toBeLessThan(300)
      expect(outcome(await use(email, code))).toBe('422 invalid_code')
    })

    test('it lives for ten minutes from its sending, and not one second more', async () => {
      const early = await codeFor()
      service.clock.advance(10 * MINUTE - 1)
      expect((await use(early.email, early.code)).status).toBeLessThan(300)
      const late = await codeFor()
      service.clock.advance(10 * MINUTE)
      expect(outcome(await use(late.email, late.code))).toBe('422 invalid_code')
    })

    rule('it is of no use for another account', async () => {
      const [one, other] = [await codeFor(), await codeFor()]
      expect(outcome(await use(other.email, one.code))).toBe('422 invalid_code')
      expect((await use(one.email, one.code)).status).toBeLessThan(300)
    })

    rule('a stranger to the service is answered as an owner is, after 5, 20 and 21 tries', async () => {
      const { email, code } = await codeFor()
      const triesOf = async (identifier: string) => {
        const answers: Answer[] = []
        for (const guess of wrongOnes(code, 22)) answers.push(await use(identifier, guess))
        return answers.map(seen)
      }
      const owner = await triesOf(email)
      const [stranger, number] = [newEmail(), newPhone()]
      expect(await triesOf(stranger)).toEqual(owner)
      expect(await triesOf(number)).toEqual(owner)
      expect(owner.map(({ status }) => status)).toEqual([...Array(20).fill(422), 429, 429])
      expect(owner[20]?.headers['retry-after']).toBe(String(owner[20]?.body.retry_after))
      // Nor does it show by registering, which anybody may do with any address.
      await service.post('register', registration(stranger))
      await service.post('register', registration(email))
      expect(seen(await use(stranger, '111111'))).toEqual(seen(await use(email, '111111')))
    })
  })

  describe('the day’s budget of wrong ones', () => {
    const guess = async (identifier: string, guesses: string[], path = 'verify-account') => {
      const outcomes: string[] = []
      for (const otp of guesses) outcomes.push(outcome(await service.post(path, { identifier, otp })))
      return outcomes
    }
    const spent = Array(20).fill('422 invalid_code')

    test('is refilled neither by sending again nor by registering again, and ends at midnight', async () => {
      const email = newEmail()
      await service.post('register', registration(email))
      let otp = await service.inbox.nextCode(email)
      let outcomes: string[] = []
      for (const again of ['resend-verification', 'resend-confirmation', 'register', 'register']) {
        outcomes = [...outcomes, ...(await guess(email, wrongOnes(otp, 5)))]
        await service.post(again, again === 'register' ? registration(email) : { identifier: email })
        otp = await service.inbox.nextCode(email)
      }
      expect(outcomes).toEqual(spent)
      const refused = await service.post('verify-account', { identifier: email, otp })
      expect(outcome(refused)).toBe('429 too_many_attempts')
      const wait = refused.body.retry_after
      expect(wait).toBe(86_400 - (Math.floor(service.clock.now().getTime() / 1000) % 86_400))
      service.clock.advance((wait - 1) * 1000)
      expect(await guess(email, wrongOnes(otp, 1))).toEqual(['429 too_many_attempts'])
      service.clock.advance(1000)
      expect(await guess(email, wrongOnes(otp, 1))).toEqual(['422 invalid_code'])
      service.clock.advance(12 * 60 * MINUTE)
    })

    rule('is one for all spellings, and not refilled by the other contact of the account', async () => {
      const [email, phone] = [newEmail(), newPhone()]
      await service.post('register', { ...registration(email), phone })
      const otp = await service.inbox.nextCode(email)
      await guess(email, wrongOnes(otp, 10))
      await guess(email.toUpperCase(), wrongOnes(otp, 5))
      await guess(phone, wrongOnes(otp, 5))
      const next = await service.askCode('resend-verification', email)
      for (const code of [otp, next]) {
        expect((await service.post('verify-account', { identifier: email, otp: code })).status).toBe(422)
      }
    })

    rule('a right code does not count', async () => {
      const { identifier } = await service.signUp(newEmail())
      for (let round = 0; round < 12; round++) {
        const otp = await service.askCode('2fa/request-otp', identifier)
        await guess(identifier, wrongOnes(otp, 1), '2fa/verify')
        expect((await service.post('2fa/verify', { identifier, otp })).status).toBe(200)
      }
    })

    rule('what strangers try with an address nobody has does not stop who registers it later', async () => {
      const email = newEmail()
      await guess(email, wrongOnes('000000', 22))
      await service.signUp(email)
    })
  })

  describe('two codes that wait at one address of one account, and differ in nothing but their purpose', () => {
    test.each([
      ['confirmation', 'password_reset'],
      ['password_reset', 'confirmation'],
    ] as const)('that for %s does nothing but that', async (own, foreign) => {
      const email = newEmail()
      await service.post('register', registration(email))
      const confirmation = await service.inbox.nextCode(email)
      await service.post('password/forgot', { identifier: email })
      const otp = { confirmation, password_reset: await service.inbox.nextCode(email) }[own]
      for (const other of [foreign, 'two_factor'] as const) {
        expect([other, outcome(await uses[other].use(email, otp))]).toEqual([other, '422 invalid_code'])
      }
      expect((await uses[own].use(email, otp)).status).toBeLessThan(300)
    })
  })

  test('a new code ends the one before, at once and also if it never arrives', async () => {
    const email = newEmail()
    await service.post('register', registration(email))
    const first = await service.inbox.nextCode(email)
    await service.post('resend-verification', { identifier: email })
    expect((await service.post('verify-account', { identifier: email, otp: first })).status).toBe(422)
    const second = await service.inbox.nextCode(email)
    await service.post('register', registration(email))
    expect((await service.post('verify-account', { identifier: email, otp: second })).status).toBe(422)
    const third = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: email, otp: third })).status).toBe(201)
  })

  rule('a code that went to one contact is of no use under the other', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(email), phone })
    const byMail = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: phone, otp: byMail })).status).toBe(422)
    const bySms = await service.askCode('resend-verification', phone)
    expect((await service.post('verify-account', { identifier: email, otp: bySms })).status).toBe(422)
    expect((await service.post('verify-account', { identifier: phone, otp: bySms })).status).toBe(201)
  })

  rule('what is not six digits is a wrong code: never an error, never a right one', async () => {
    const { identifier } = await service.signUp(newEmail())
    const otp = await service.askCode('2fa/request-otp', identifier)
    const typed = [
      '',
      ' ',
      otp.slice(0, 5),
      `${otp}0`,
      `0${otp}`,
      `-${otp}`,
      '٠٠٠٠٠٠',
      `${otp}'--`,
      '1e5',
      `${'9'.repeat(9000)}`,
    ]
    for (const guess of typed.slice(0, 4)) {
      expect((await service.post('2fa/verify', { identifier, otp: guess })).status).toBe(422)
    }
    expect(
      (await service.post('2fa/verify', { identifier, otp: ` ${otp.slice(0, 3)} ${otp.slice(3)}\n` })).status,
    ).toBe(200)
    for (const guess of [...typed.slice(4), Number(otp), [otp], { $ne: '' }, true]) {
      expect((await service.post('2fa/verify', { identifier, otp: guess })).status).toBe(422)
    }
  })
})

/** Where the day's budget ends the guessing first, the five tries of a code do not show. */
describe.each(racingShapes)('with a day’s budget that nobody spends, on %s', (shape) => {
  const service = useService({ shape, clock: noon(), settings: { codes: { attempts_per_day: 10_000 } } })

  describe.each(Object.entries(usesOf(() => service)))('for %s', (_purpose, { ask, use }) => {
    /** So many wrong ones at once, none of which is told apart, then the right one. */
    async function afterParallel(wrong: number) {
      const email = newEmail()
      await ask(email)
      const code = await service.inbox.nextCode(email)
      const answers = await Promise.all(wrongOnes(code, wrong).map((guess) => use(email, guess)))
      expect(new Set(answers.map(outcome))).toEqual(new Set(['422 invalid_code']))
      return use(email, code)
    }

    // Fewer than a hundred: so many in a row would close the account's codes of this purpose.
    const many = reduced(40, 90)
    test(`${many} parallel wrong guesses kill the code, and so do five, but not four`, async () => {
      expect(outcome(await afterParallel(many))).toBe('422 invalid_code')
      expect(outcome(await afterParallel(5))).toBe('422 invalid_code')
      expect((await afterParallel(4)).status).toBeLessThan(300)
    })
  })
})

test('a code for one purpose is of no use for any other', async () => {
  await using service = await startService({ clock: noon() })
  /** Purposes by what asks for a code and what takes one; each on an account that waits for all of them. */
  const owner = async () => {
    const { person, bearer: access_token } = await service.signedIn()
    return { ...person, bearer: access_token as string, newEmail: newEmail(), newPhone: newPhone() }
  }
  type Owner = Awaited<ReturnType<typeof owner>>
  const password = PASSWORD
  const good = { password: 'another good one', password_confirmation: 'another good one' }
  const purposes: Record<
    string,
    { ask(o: Owner): Promise<Answer>; to(o: Owner): string; use(o: Owner, otp: string): Promise<Answer> }
  > = {
    confirmation: {
      ask: ({ newEmail: email }) => service.post('register', registration(email)),
      to: (o) => o.newEmail,
      use: (o, otp) => service.post('verify-account', { identifier: o.newEmail, otp }),
    },
    two_factor: {
      ask: ({ identifier }) => service.post('2fa/request-otp', { identifier }),
      to: (o) => o.identifier,
      use: ({ identifier }, otp) => service.post('2fa/verify', { identifier, otp }),
    },
    password_reset: {
      ask: ({ identifier }) => service.post('password/forgot', { identifier }),
      to: (o) => o.identifier,
      use: ({ identifier }, otp) => service.post('password/reset', { identifier, otp, ...good }),
    },
    email_change: {
      ask: ({ bearer, newEmail: email }) => service.post('email/change', { email, password }, { bearer }),
      to: (o) => o.newEmail,
      use: ({ bearer }, otp) => service.post('email/confirm', { otp }, { bearer }),
    },
    phone_change: {
      ask: ({ bearer, newPhone: phone }) => service.post('phone/change', { phone, password }, { bearer }),
      to: (o) => o.newPhone,
      use: ({ bearer }, otp) => service.post('phone/confirm', { otp }, { bearer }),
    },
    two_factor_enrolment: {
      ask: ({ bearer }) => service.post('2fa/enable', { password }, { bearer }),
      to: (o) => o.identifier,
      use: ({ bearer }, otp) => service.post('2fa/enable/confirm', { otp }, { bearer }),
    },
  }
  const tryAs = async (purpose: string, other: string) => {
    const { ask, to, use: useOwn } = purposes[purpose]!
    const { ask: askOther, to: toOther, use } = purposes[other]!
    const person = await owner()
    await askOther(person)
    await service.inbox.nextCode(toOther(person))
    await ask(person)
    const otp = await service.inbox.nextCode(to(person))
    const answer = outcome(await use(person, otp))
    expect([purpose, other, answer]).toEqual([purpose, other, '422 invalid_code'])
    // It was alive all the time.
    expect([purpose, other, (await useOwn(person, otp)).status < 300]).toEqual([purpose, other, true])
  }
  const names = Object.keys(purposes)
  for (const purpose of names) {
    await Promise.all(names.filter((other) => other !== purpose).map((other) => tryAs(purpose, other)))
  }
})
