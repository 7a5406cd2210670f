/** Registration and confirmation through HTTP, on every storage shape. */
import { describe, expect } from 'bun:test'
import { fr } from '../../src/texts/fr.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { shapes, testsOn } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

describe.each(shapes)('registration on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape })

  test('by e-mail: the code arrives, confirms the account once, and then the person signs in', async () => {
    const email = newEmail()
    const registered = await service.post('register', registration(email))
    expect(registered.status).toBe(201)
    expect(registered.body).toEqual({
      status: 201,
      message: fr.sentences.code_sent_by_email,
    })
    const before = await service.post('login', { identifier: email, password: PASSWORD })
    expect(before.body.code).toBe('account_unconfirmed')
    const otp = await service.inbox.nextCode(email)
    const confirmed = await service.post('verify-account', { identifier: email, otp })
    expect(confirmed.body).toEqual({ status: 201, message: fr.sentences.account_confirmed })
    expectRefusal(await service.post('verify-account', { identifier: email, otp }), 'invalid_code')
    const { account } = await service.logIn({ identifier: email, password: PASSWORD })
    expect(account.account_confirmed).toBe(true)
    expect(account.email).toBe(email)
  })

  test('by phone: the code arrives by SMS, whatever the spelling of the number', async () => {
    const phone = newPhone()
    const national = phone.replace('+33', '0')
    const registered = await service.post('register', { ...registration(phone), phone: national })
    expect(registered.body.message).toBe(fr.sentences.code_sent_by_sms)
    const otp = await service.inbox.nextCode(phone)
    const confirmed = await service.post('verify-account', { identifier: phone.replace('+', '00'), otp })
    expect(confirmed.status).toBe(201)
    const { account } = await service.logIn({ identifier: national, password: PASSWORD })
    expect(account.phone).toBe(phone)
  })

  rule('messages keep the language of the registration, whatever is asked for later', async () => {
    const subjectsOf = async (first: 'en' | 'fr', later: 'en' | 'fr') => {
      const email = newEmail()
      const codes: string[] = []
      const ask = async (operation: string, body: object, language: string) => {
        const answer = await service.post(operation, body, { language })
        expect([answer.status, answer.headers.get('content-language')]).toEqual([201, language])
        codes.push(await service.inbox.nextCode(email))
      }
      await ask('register', registration(email), first)
      await ask('resend-verification', { identifier: email }, later)
      await service.post('verify-account', { identifier: email, otp: codes[1] }, { language: later })
      await ask('2fa/request-otp', { identifier: email }, later)
      await ask('password/forgot', { identifier: email }, later)
      const mails = service.smtp.messages.filter(({ to }) => to === email)
      for (const [index, { text, html }] of mails.entries()) {
        expect(text).toContain(codes[index]!)
        expect(text).toContain(first === 'en' ? 'ignore this message' : 'ignorez ce message')
        expect(html).toContain(`<html lang="${first}" dir="ltr">`)
      }
      return mails.map(({ subject }) => subject)
    }
    expect(await subjectsOf('en', 'fr')).toEqual([
      'Confirm your account at Poterne',
      'Confirm your account at Poterne',
      'Your sign-in code for Poterne',
      'Your code to choose a new password for Poterne',
    ])
    expect(await subjectsOf('fr', 'en')).toEqual([
      'Confirmez votre compte Poterne',
      'Confirmez votre compte Poterne',
      'Votre code de connexion à Poterne',
      'Votre code pour choisir un nouveau mot de passe sur Poterne',
    ])
  })

  raced('a right code in 32 parallel calls confirms exactly once', async () => {
    const email = newEmail()
    await service.post('register', registration(email))
    const otp = await service.inbox.nextCode(email)
    const answers = await race([service], () => service.post('verify-account', { identifier: email, otp }))
    expect(onlySuccess(answers, 'invalid_code', 'too_many_attempts').status).toBe(201)
    expect(answers.filter(({ body }) => body.code === 'invalid_code').length).toBeGreaterThan(10)
  })

  raced('32 parallel registrations of one identifier make one account', async () => {
    const email = newEmail()
    const before = await countRows(service, 'accounts')
    const answers = await race([service], () => service.post('register', registration(email)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(await countRows(service, 'accounts')).toBe(before + 1)
  })

  rule(
    'an e-mail address of more than 254 characters is too long, a shorter wrong one not valid',
    async () => {
      const problemOf = async (email: string) => {
        const { status, body } = await service.post('register', { ...registration(newEmail()), email })
        return [status, body.errors]
      }
      const tooLong = { field: 'email', code: 'too_long', message: 'Cette valeur est trop longue.' }
      expect(await problemOf(`${'x'.repeat(250)}@b.co`)).toEqual([422, [tooLong]])
      expect(await problemOf(`${'x'.repeat(9000)}@b.co`)).toEqual([422, [tooLong]])
      expect(await problemOf(`${'x'.repeat(65)}@b.co`)).toMatchObject([422, [{ code: 'invalid_email' }]])
    },
  )
})
