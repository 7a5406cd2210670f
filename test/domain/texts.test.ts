/** Languages as people and clients meet them: an operator's own ones, and the one that belongs to the account. */
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const directory = newDirectory('texts')
const german = `
[errors]
invalid_credentials = "Kennung oder Passwort ist falsch."
[messages]
greeting = "Guten Tag,"
[messages.codes.confirmation]
subject = "Bestätigen Sie Ihr Konto bei {service}"
[messages.notices.password_changed]
sms = "{service}: Ihr Passwort wurde geändert."
`
writeFileSync(join(directory, 'de.toml'), german)

const service = useService({
  settings: { texts: { directory, fallback: 'es', service_name: 'Acme' }, server: { language: 'pt' } },
})
const change = (language: unknown, bearer?: string) =>
  service.call('PATCH', '/api/v1/auth/me', { language }, { language: 'en', ...(bearer && { bearer }) })
const mailTo = async (email: string) => {
  await service.inbox.nextCode(email)
  return service.smtp.messages.findLast(({ to }) => to === email)!
}

describe('a language that the operator wrote', () => {
  test('is answered to whoever asks for it; what it lacks is in the fallback', async () => {
    const person = { identifier: newEmail(), password: 'wrong password' }
    const answer = await service.post('login', person, { language: 'de-CH, en;q=0.5' })
    expectRefusal(answer, 'invalid_credentials')
    expect(answer.headers.get('content-language')).toBe('de')
    expect(answer.body.message).toBe('Kennung oder Passwort ist falsch.')
    const lacking = await service.post('login', {}, { language: 'de' })
    expect(lacking.body.message).toBe('Algunos campos no son válidos.')
    const other = await service.post('login', {}, { language: 'it' })
    expect(other.body.message).toBe('Alguns campos não são válidos.')
  })

  test('is the one of an account that was registered in it', async () => {
    const email = newEmail()
    await service.post('register', registration(email), { language: 'de' })
    const { subject, text, html } = await mailTo(email)
    expect(subject).toBe('Bestätigen Sie Ihr Konto bei Acme')
    expect(text).toStartWith('Guten Tag,\n\nEscriba este código donde creó su cuenta:')
    expect(html).toContain('<html lang="de" dir="ltr">')
  })
})

describe('the language of an account', () => {
  test('is changed by its owner: codes and notices speak it, answers go on following the request', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const { person, bearer, account } = await service.signedIn(phone)
    const answer = await change('ar', bearer)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual([
      'status',
      'account',
      'email_verified',
      'phone_verified',
      'profile',
      'username',
      'groups',
      'role',
    ])
    expect(answer.body).toEqual((await service.get('me', { bearer })).body)
    expect(answer.body.account).toEqual({ ...account, updated_at: answer.body.account.updated_at })
    expect((await service.get('me/security', { bearer })).body.language).toBe('ar')

    await service.post('email/change', { email, password: person.password }, { bearer, language: 'en' })
    const mail = await mailTo(email)
    expect(mail.text).toContain('أدخل هذا الرمز حيث كتبت هذا العنوان:')
    expect(mail.html).toContain('<html lang="ar" dir="rtl">')
    const forgot = await service.post('password/forgot', { identifier: phone }, { language: 'fr' })
    expect(forgot.headers.get('content-language')).toBe('fr')
    await service.inbox.nextCode(phone)
    expect(service.inbox.textsTo(phone).at(-1)).toMatch(
      /^رمز كلمة المرور في Acme: \d{6}\. صالح 10 دقائق\. لا تشاركه\.$/,
    )

    expect((await change('de', bearer)).status).toBe(200)
    const password = 'another good password'
    const body = { current_password: person.password, password, password_confirmation: password }
    expect((await service.post('password/change', body, { bearer })).status).toBe(200)
    const notice = 'Acme: Ihr Passwort wurde geändert.'
    await waitFor(() => service.inbox.textsTo(phone).includes(notice), { what: notice })
  })

  test('is recorded in the history once for each change', async () => {
    const { bearer } = await service.signedIn()
    for (const language of ['es', 'es', 'fr']) expect((await change(language, bearer)).status).toBe(200)
    const { items } = (await service.get('events', { bearer })).body
    const updates = items.filter(({ type }: { type: string }) => type === 'account.updated')
    expect(updates).toMatchObject([{ data: { fields: ['language'] } }, { data: { fields: ['language'] } }])
  })

  test('is one that the service has, and its owner must be signed in', async () => {
    const { bearer } = await service.signedIn()
    for (const language of ['it', 'EN', '', '__proto__']) {
      expectInvalid(await change(language, bearer), { language: 'invalid_value' })
    }
    expectInvalid(await change(5, bearer), { language: 'invalid_type' })
    expectInvalid(await change(undefined, bearer), { language: 'required' })
    expectRefusal(await change('fr'), 'invalid_token')
    await service.post('logout', {}, { bearer })
    expectRefusal(await change('fr', bearer), 'invalid_token')
  })
})
