/** The second step of a sign-in, and what does not get past it: every kind of code, races, guesses, orders of calls. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { dumpTables } from '../helpers/database.ts'
import { noon } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { shapes, startService, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

const failure = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code]
const invalidCode = [422, 'invalid_code']
const DAY_MS = 86_400_000

describe.each(shapes)('the second step on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, clock: noon() })
  const replica = useReplica(service, { shape })

  const now = () => service.clock.now()
  const verify = (body: Record<string, unknown>, at = service) => at.post('2fa/verify', body)

  /** By turns at both replicas. */
  const callers = async (body: Record<string, unknown>) => {
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) => verify(body, index % 2 === 0 ? service : replica)),
    )
    return answers.filter(({ status }) => status === 200).length
  }

  test('a code of the app opens one session, whatever the number of callers and replicas', async () => {
    const { person, secret } = await protectByApp(service)
    const otp = appCode(secret, now(), 1)
    expect(await callers({ ...person, otp })).toBe(1)
    // Repeating what was right is no guess, and uses up none of the tries of the day.
    expect(failure(await verify({ ...person, otp }))).toEqual(invalidCode)
    service.clock.advance(PERIOD_MS)
    expect((await verify({ ...person, otp: appCode(secret, now(), 1) })).status).toBe(200)
  })

  test('a recovery code opens one session, whatever the number of callers and replicas', async () => {
    const { person, recoveryCodes } = await protectByApp(service)
    expect(await callers({ ...person, otp: recoveryCodes[0] })).toBe(1)
    await service.delivered()
    const texts = service.inbox.textsTo(person.identifier).filter((text) => text.includes('code de secours'))
    expect(texts).toEqual([expect.stringMatching(/Il en reste 9\./)])
    service.clock.advance(DAY_MS) // The others were wrong tries.
    expect((await verify({ ...person, otp: recoveryCodes[1] })).status).toBe(200)
  })

  raced('32 parallel calls with their own recovery codes and codes of the app use each once', async () => {
    const { person, secret, recoveryCodes } = await protectByApp(service)
    const codes = [...recoveryCodes.slice(0, 5), appCode(secret, now(), 1)]
    const answers = await Promise.all([...codes, ...codes].map((otp) => verify({ ...person, otp })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(codes.length)
  })

  test('a recovery code is read in any case and grouping, works with sent codes too, and its owner is told', async () => {
    const { person, recoveryCodes } = await protectBySentCodes(service)
    const [first = '', second = '', third = ''] = recoveryCodes
    expect((await verify({ ...person, otp: first.toLowerCase().replaceAll('-', ' ') })).status).toBe(200)
    const misread = second.replaceAll('-', '').replaceAll('0', 'o').replaceAll('1', 'l')
    expect((await verify({ ...person, otp: misread })).status).toBe(200)
    expect(failure(await verify({ ...person, otp: misread }))).toEqual(invalidCode)
    expect(failure(await verify({ ...person, otp: third.slice(0, -1) }))).toEqual(invalidCode)
    await waitFor(
      () => service.inbox.textsTo(person.identifier).some((text) => /Il en reste 8\./.test(text)),
      { what: 'the notice' },
    )
  })

  raced('new recovery codes replace the old ones, also when asked for in parallel', async () => {
    const { person, bearer, recoveryCodes } = await protectByApp(service)
    const answers = await Promise.all(
      recoveryCodes
        .slice(2)
        .map((otp) => service.post('2fa/recovery-codes', { password: PASSWORD, otp }, { bearer })),
    )
    const sets = answers.flatMap(({ body }) => (body.recovery_codes ? [body.recovery_codes as string[]] : []))
    expect(sets.length).toBeGreaterThan(0)
    expect(failure(await verify({ ...person, otp: recoveryCodes[0] }))).toEqual(invalidCode)
    const alive = await Promise.all(sets.map(([otp]) => verify({ ...person, otp })))
    expect(alive.filter(({ status }) => status === 200)).toHaveLength(1)
    await waitFor(
      () =>
        service.inbox.textsTo(person.identifier).filter((text) => text.includes('Nouveaux codes de secours'))
          .length === sets.length,
      { what: 'the notices' },
    )
  })

  rule('one code of somebody else, or of an app that is not confirmed, opens nothing', async () => {
    const [mine, theirs] = [await protectByApp(service), await protectByApp(service)]
    for (const otp of [appCode(theirs.secret, now(), 1), theirs.recoveryCodes[0]]) {
      expect(failure(await verify({ ...mine.person, otp }))).toEqual(invalidCode)
    }
    const { person, bearer } = await service.signedIn()
    const { body } = await service.post('2fa/totp', { password: PASSWORD }, { bearer })
    const otp = appCode(body.secret, now())
    expect(failure(await verify({ ...person, otp }))).toEqual(invalidCode)
    expect(failure(await verify({ identifier: person.identifier, otp }))).toEqual(invalidCode)
  })

  describe('one factor alone gets no tokens:', () => {
    rule('the password, in any order of calls', async () => {
      const { person } = await protectByApp(service)
      const answers = [
        await service.post('login', person),
        await verify({ ...person, otp: '000000' }),
        await verify({ ...person, otp: '' }),
        await service.post('2fa/request-otp', { identifier: person.identifier }),
        await verify({ identifier: person.identifier, otp: '000000' }),
        await service.post('login', person),
      ]
      expect(answers.map(({ status }) => status)).toEqual([202, 422, 422, 201, 422, 202])
      expect(answers.filter(({ body }) => 'access_token' in body)).toEqual([])
    })

    rule(
      'the app, a recovery code or a sent code without the password; and none of them is used up',
      async () => {
        const app = await protectByApp(service)
        const sent = await protectBySentCodes(service)
        const code = await service.askCode('2fa/request-otp', sent.person.identifier)
        const tries = [
          { person: app.person, otp: appCode(app.secret, now(), 1) },
          { person: app.person, otp: app.recoveryCodes[0] },
          { person: sent.person, otp: code },
          { person: sent.person, otp: sent.recoveryCodes[0] },
        ]
        for (const { person, otp } of tries) {
          const { identifier } = person
          const outcomes = [
            await verify({ identifier, otp }),
            await verify({ identifier, otp, password: 'not this one' }),
            await verify({ identifier, otp, password: '' }),
            await verify({ identifier, otp, password: null }),
          ]
          expect(outcomes.map(failure)).toEqual(Array(4).fill(invalidCode))
        }
        for (const { person, otp } of tries) expect((await verify({ ...person, otp })).status).toBe(200)
      },
    )

    rule('the app, ten minutes after a login proved the password', async () => {
      const { person, secret } = await protectByApp(service)
      const { identifier } = person
      await service.post('login', person)
      service.clock.advance(10 * 60_000 + 1000)
      expect(failure(await verify({ identifier, otp: appCode(secret, now()) }))).toEqual(invalidCode)
      await service.post('login', person)
      expect((await verify({ identifier, otp: appCode(secret, now()) })).status).toBe(200)
      expect(failure(await verify({ identifier, otp: appCode(secret, now(), 1) }))).toEqual(invalidCode)
    })

    rule('a password set by reset: the app stays on', async () => {
      const { person, secret } = await protectByApp(service)
      const { identifier } = person
      const password = 'another horse battery'
      await service.resetPassword(identifier, password)
      expect((await service.post('login', { identifier, password })).status).toBe(202)
      const code = appCode(secret, now(), 1)
      expect(failure(await verify({ identifier, otp: code, password: PASSWORD }))).toEqual(invalidCode)
      expect((await verify({ identifier, otp: code, password })).status).toBe(200)
    })
  })

  rule('which of the two was wrong shows nowhere in the answer', async () => {
    const { person, secret } = await protectByApp(service)
    const { identifier } = person
    const otp = appCode(secret, now(), 1)
    const answers = [
      await verify({ identifier, otp, password: 'not this one' }),
      await verify({ ...person, otp: '000000' }),
      await verify({ identifier, otp: '000000', password: 'not this one' }),
      await verify({ identifier: newEmail(), otp, password: PASSWORD }),
    ]
    const seen = answers.map(({ status, headers, body }) => {
      const names = [...headers.keys()].sort()
      return JSON.stringify([status, names, { ...body, request_id: '' }])
    })
    expect(new Set(seen).size).toBe(1)
  })

  test('20 wrong codes with the right password close the day for the account; a stranger closes nothing', async () => {
    const { person, secret, recoveryCodes } = await protectByApp(service)
    const { identifier } = person
    for (let n = 0; n < 21; n++) await verify({ identifier, otp: '000000', password: 'not this one' })
    expect((await verify({ ...person, otp: appCode(secret, now(), 1) })).status).toBe(200)
    service.clock.advance(PERIOD_MS)
    for (let n = 0; n < 20; n++) {
      expect(failure(await verify({ ...person, otp: '000000' }))).toEqual(invalidCode)
    }
    for (const otp of ['000000', appCode(secret, now(), 1)]) {
      expectRefusal(await verify({ ...person, otp }), 'too_many_attempts')
    }
    expect((await verify({ ...person, otp: recoveryCodes[0] })).status).toBe(200)
    service.clock.advance(DAY_MS)
    expect((await verify({ ...person, otp: appCode(secret, now()) })).status).toBe(200)
  })

  test('secrets are sealed and recovery codes hashed: no row of any table holds them', async () => {
    const { secret, recoveryCodes, bearer } = await protectByApp(service)
    const waiting = await service.post('2fa/totp', { password: PASSWORD, otp: recoveryCodes[9] }, { bearer })
    const rows = await dumpTables(service)
    expect(rows).toContain('totp_factors')
    expect(rows).toContain('totp_enrolments')
    const codes = recoveryCodes.flatMap((code) => [code, code.replaceAll('-', '')])
    const secrets = [secret, waiting.body.secret as string, ...codes]
    const forms = secrets.flatMap((text) => [text, Buffer.from(text).toString('hex')])
    const bytes = [secret, waiting.body.secret].map((text) => base32Bytes(text).toString('hex'))
    for (const form of [...forms, ...bytes]) {
      expect(rows.toLowerCase().includes(form.toLowerCase())).toBe(false)
      expect(service.log.join('\n').includes(form)).toBe(false)
    }
  })

  rule(
    'no call of the factors works without a living session, and bad bodies are refused in shape',
    async () => {
      const { bearer } = await service.signedIn()
      const bodies = { password: PASSWORD, otp: '123456' }
      const operations = ['enable', 'enable/confirm', 'totp', 'totp/confirm', 'disable', 'recovery-codes']
      for (const operation of operations.map((name) => `2fa/${name}`)) {
        for (const token of [undefined, 'x.y.z', `${bearer.slice(0, -8)}AAAAAAAA`]) {
          const answer = await service.post(operation, bodies, token ? { bearer: token } : {})
          expectRefusal(answer, 'invalid_token')
        }
        for (const body of [{}, { password: 1, otp: 1 }, { password: null, otp: null }, []]) {
          expect([400, 422]).toContain((await service.post(operation, body, { bearer })).status)
        }
        for (const otp of ['', ' ', '12345', '1234567', '١٢٣٤٥٦', 'x'.repeat(8000), '0000-0000-0000-0000']) {
          const { status } = await service.post(operation, { password: 'not this one', otp }, { bearer })
          expect([401, 422, 429]).toContain(status)
        }
      }
      await service.post('logout', {}, { bearer })
      for (const operation of operations) {
        expect((await service.post(`2fa/${operation}`, bodies, { bearer })).status).toBe(401)
      }
    },
  )
})

test('100 wrong codes in a row, over whatever days, leave one try a day', async () => {
  await using service = await startService({
    clock: noon(),
    settings: {
      codes: { attempts_per_day: 1000 },
      limits: { enabled: true, verifications: 10_000 },
    },
  })
  const { person, secret } = await protectByApp(service)
  const { identifier } = person
  await service.post('login', person)
  const guess = (otp: string) => service.post('2fa/verify', { identifier, otp })
  for (let n = 0; n < 100; n++) expect(failure(await guess('000000'))).toEqual(invalidCode)
  const refused = await guess(appCode(secret, service.clock.now(), 1))
  expectRefusal(refused, 'too_many_attempts')
  // It lasts until midnight (UTC), as the budgets of the day.
  expect(refused.body.retry_after).toBe(43_200)
  service.clock.advance(DAY_MS)
  await service.post('login', person)
  expect((await guess(appCode(secret, service.clock.now()))).status).toBe(200)
  await service.post('login', person)
  service.clock.advance(PERIOD_MS)
  expect((await guess(appCode(secret, service.clock.now()))).status).toBe(200)
}, 60_000)

/** RFC 4648, without padding. */
function base32Bytes(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
