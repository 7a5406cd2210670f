/**
 * A contact that an import did not vouch for is a claim of its account: whoever has the contact registers, confirms and
 * resets as if nobody named it. An account that was made for somebody keeps only the contact that it waits for.
 */
import { describe, expect } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'

import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'

const OWNERS = 'the sentence of whoever has it'

describe.each(racingShapes)('on %s', (shape) => {
  const { rule, test, raced } = testsOn(shape)
  const service = useService({ shape })
  const replica = useReplica(service, { shape })
  const revealing = useReplica(service, { shape, settings: { accounts: { reveal_existing: true } } })

  /** A confirmed account that claims `contact`; with `waits` one that nobody confirmed, and that names it besides. */
  async function makeClaim(contact: { email: string } | { phone: string }, waits = false) {
    const own = 'email' in contact ? { phone: newPhone() } : { email: newEmail() }
    const [field] = Object.keys(own)
    const line = { ...own, ...contact, password: { hash: await Bun.password.hash(PASSWORD) } }
    const { body } = await asOperator(service, 'POST', 'accounts/import', {
      records: [waits ? { ...line } : { ...line, [`${field}_verified_at`]: true }],
    })
    return body.results[0].uuid as string
  }
  const register = (identifier: string, at = service) => at.post('register', registration(identifier, OWNERS))
  const confirm = (identifier: string, otp: string, at = service) =>
    at.post('verify-account', { identifier, otp })
  const passwordOpens = async (identifier: string, password: string) =>
    (await service.post('login', { identifier, password })).body.account?.uuid

  test('whoever has a claimed address or number registers, and the claim ends', async () => {
    for (const contact of [{ email: newEmail() }, { phone: newPhone() }]) {
      const [identifier = ''] = Object.values(contact)
      const uuid = await makeClaim(contact)
      expect(await passwordOpens(identifier, PASSWORD)).toBe(uuid)
      expect((await register(identifier, revealing)).status).toBe(201)
      expect((await confirm(identifier, await service.inbox.nextCode(identifier))).status).toBe(201)
      expect(await passwordOpens(identifier, OWNERS)).not.toBe(uuid)
      expect(await passwordOpens(identifier, PASSWORD)).toBeUndefined()
      const { body } = await asOperator(service, 'GET', `accounts/${uuid}`)
      expect([body.account.email, body.account.phone]).not.toContain(identifier)
    }
  })

  rule('the other contact of an account that waits keeps nobody either', async () => {
    const phone = newPhone()
    const uuid = await makeClaim({ phone }, true)
    await register(phone)
    expect((await confirm(phone, await service.inbox.nextCode(phone))).status).toBe(201)
    const { body } = await asOperator(service, 'GET', `accounts/${uuid}`)
    expect([body.account.account_confirmed, body.account.phone]).toEqual([false, null])
  })

  rule(
    'the contact that an imported account waits for is its own: its holder gets a code for it, and a reset',
    async () => {
      const email = newEmail()
      const { body } = await asOperator(service, 'POST', 'accounts/import', { records: [{ email }] })
      expectRefusal(await register(email, revealing), 'identifier_taken')
      const otp = await service.askCode('password/forgot', email)
      await service.post('password/reset', {
        identifier: email,
        otp,
        password: OWNERS,
        password_confirmation: OWNERS,
      })
      expect(await passwordOpens(email, OWNERS)).toBe(body.results[0].uuid)
    },
  )

  rule('an administrator may give a claimed contact to somebody', async () => {
    const email = newEmail()
    const claimer = await makeClaim({ email })
    const { body } = await asOperator(service, 'POST', 'accounts', { phone: newPhone(), verified: true })
    const put = { value: email, verified: true }
    expect((await asOperator(service, 'PUT', `accounts/${body.account.uuid}/email`, put)).status).toBe(200)
    const after = await asOperator(service, 'GET', `accounts/${claimer}`)
    expect(after.body.account.email).toBeNull()
  })

  raced('of 32 who confirm a claimed contact one has it', async () => {
    const email = newEmail()
    const uuid = await makeClaim({ email })
    await register(email)
    const otp = await service.inbox.nextCode(email)
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 32 }, (_, index) => confirm(email, otp, index % 2 ? replica : service)),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect([undefined, uuid]).not.toContain(await passwordOpens(email, OWNERS))
    expect(await passwordOpens(email, PASSWORD)).toBeUndefined()
  })

  raced('32 imports of a claim and a confirmation of it leave one who has it', async () => {
    const [email, claimers] = [newEmail(), Array.from({ length: 31 }, () => newPhone())]
    await register(email)
    const otp = await service.inbox.nextCode(email)
    const lines = claimers.map((phone) => ({ email, phone, phone_verified_at: true }))
    const [confirmed, ...imported] = await Promise.all([
      confirm(email, otp),
      ...lines.map((line, index) =>
        asOperator(index % 2 ? replica : service, 'POST', 'accounts/import', { records: [line] }),
      ),
    ])
    expect(confirmed?.status).toBe(201)
    for (const { status, body } of imported) expect([status, body.results.length]).toEqual([200, 1])
    expect(await passwordOpens(email, OWNERS)).toBeString()
  })
})
