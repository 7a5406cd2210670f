/** The link in a notice by which a replaced contact comes back, through HTTP, with limits on. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type CallOptions, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { countRows } from '../helpers/database.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { ruleOn, type Shape } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited, useReplica } from '../helpers/use-service.ts'

const DAY_MS = 86_400_000
type Kind = 'email' | 'phone'

describe.each(['embedded', 'redis'] as Shape[])('an undo link on %s', (shape) => {
  const service = useLimited({ shape })
  const replica = useReplica(service, { shape })
  const rule = ruleOn(shape)

  async function signIn(identifier: string, device: object = {}, client: CallOptions = newClient()) {
    const { status, body } = await service.post(
      'login',
      { identifier, password: PASSWORD, ...device },
      client,
    )
    expect([status, body.code]).toEqual([200, undefined])
    return body
  }

  async function register(identifier: string, device: object = {}, client: CallOptions = newClient()) {
    await service.post('register', registration(identifier), newClient())
    const otp = await service.inbox.nextCode(identifier)
    expect((await service.post('verify-account', { identifier, otp }, newClient())).status).toBe(201)
    return signIn(identifier, device, client)
  }

  const kindOf = (contact: string): Kind => (contact.startsWith('+') ? 'phone' : 'email')

  /** Changes or adds the contact in a session. */
  async function change(
    contact: string,
    bearer: string,
    more: object = {},
    client: CallOptions = newClient(),
  ) {
    const kind = kindOf(contact)
    const asked = { [kind]: contact, password: PASSWORD, ...more }
    const answer = await service.post(`${kind}/change`, asked, { ...client, bearer })
    expect([answer.status, answer.body.code]).toEqual([201, undefined])
    const otp = await service.inbox.nextCode(contact)
    expect((await service.post(`${kind}/confirm`, { otp }, { ...client, bearer })).status).toBe(200)
  }

  const linkTo = (contact: string) =>
    /http:\/\/auth\.internal\/undo\?t=([\w-]{22})/.exec(service.inbox.textsTo(contact).at(-1) ?? '')?.[1]

  /** The token of the link in the last message to that contact. */
  async function tokenTo(contact: string): Promise<string> {
    await service.delivered()
    const token = linkTo(contact)
    expect(token).toBeString()
    return token as string
  }

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  // A long address may break in a page: it is read as one text.
  const answerOf = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    html: (await response.text()).replaceAll('<wbr>', ''),
  })
  async function visit(method: string, token: string, options: CallOptions = {}, { url } = service) {
    const response = await fetch(`${url}/undo?t=${token}`, {
      method,
      headers: { ...newClient().headers, ...options.headers },
    })
    return answerOf(response)
  }
  async function undo(token: string, { url } = service) {
    const response = await fetch(`${url}/undo`, {
      method: 'POST',
      headers: { ...newClient().headers, ...form },
      body: new URLSearchParams({ t: token }).toString(),
    })
    return answerOf(response)
  }

  /** Chooses a new password with a code at that contact, and signs in with it. */
  async function comeBack(contact: string) {
    const password = 'chosen by the owner'
    await service.resetPassword(contact, password, newClient())
    return service.post('login', { identifier: contact, password }, newClient())
  }

  /** Turns two-factor sign-in on with an app; returns its secret. */
  async function enrolApp(bearer: string): Promise<string> {
    const options = { ...newClient(), bearer }
    const { body } = await service.post('2fa/totp', { password: PASSWORD }, options)
    const otp = appCode(body.secret, service.clock.now())
    expect((await service.post('2fa/totp/confirm', { otp }, options)).status).toBe(200)
    return body.secret
  }

  const passwordLogin = (identifier: string) =>
    service.post('login', { identifier, password: PASSWORD }, newClient())

  test('gives the owner the account back: nobody else has a session, a password or a contact of it', async () => {
    const [email, planted, plantedPhone] = [newEmail(), newEmail(), newPhone()]
    const owner = await register(email)
    service.clock.advance(DAY_MS)
    const intruder = await signIn(email, { device_fingerprint: `of the intruder of ${email}` })
    await change(plantedPhone, intruder.access_token)
    await change(planted, intruder.access_token)
    const token = await tokenTo(email)

    const page = await visit('GET', token)
    expect(page.status).toBe(200)
    expect(page.html).toContain(`${email.slice(0, 1)}•••@example.com`)
    expect(page.html).not.toContain(email)
    const { code: recovery } = await service.inside.services.people.recover(owner.account.uuid, {})
    // The notice of it and that of the undo might arrive in either order.
    await service.delivered()
    const done = await undo(token)
    expect([done.status, done.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])

    for (const bearer of [owner.access_token, intruder.access_token])
      expect((await service.get('me', { ...newClient(), bearer })).status).toBe(401)
    for (const { refresh_token } of [owner, intruder])
      expect((await service.post('refresh', { refresh_token }, newClient())).status).toBe(401)
    const another = { password: 'chosen by the intruder', password_confirmation: 'chosen by the intruder' }
    const byRecovery = { identifier: owner.account.uuid, otp: recovery, ...another }
    expectRefusal(await service.post('password/reset', byRecovery, newClient()), 'invalid_code')
    for (const identifier of [email, planted, plantedPhone])
      expect((await passwordLogin(identifier)).status).toBe(401)
    await service.delivered()
    for (const contact of [planted, plantedPhone])
      expect(service.inbox.textsTo(contact).at(-1)).toMatch(/ancien.*rétabli/s)
    expect(service.inbox.textsTo(planted).at(-1)).toContain('le numéro de téléphone')
    expect(linkTo(planted)).toBeUndefined()

    const { status, body } = await comeBack(email)
    expect(status).toBe(200)
    expect([body.account.uuid, body.account.email, body.account.phone]).toEqual([
      owner.account.uuid,
      email,
      null,
    ])
    const used = sql`type = 'undo.used' and account = ${sql.raw(`'${owner.account.uuid}'`)} and data = '{"contact": "email"}'`
    expect(await countRows(service, 'events', used)).toBe(1)
  })

  test('works once, for 32 callers on two processes, and all see a page', async () => {
    const email = newEmail()
    const { access_token } = await register(email)
    await change(newEmail(), access_token)
    const token = await tokenTo(email)
    const answers = await race([service, replica], (each) => undo(token, each))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const others = answers.filter(({ status }) => status !== 200)
    for (const { status, html } of others) {
      expect(status).toBe(404)
      expect(html).toContain('<!doctype html>')
    }
    expect((await visit('GET', token)).status).toBe(404)
    expect((await comeBack(email)).status).toBe(200)
  })

  test('does nothing when somebody else verified the contact meanwhile, and says so', async () => {
    const [email, next] = [newEmail(), newEmail()]
    const first = await register(email)
    await change(next, first.access_token)
    const token = await tokenTo(email)
    const other = await register(email)
    expect(other.account.uuid).not.toBe(first.account.uuid)
    for (const { status, html } of [await visit('GET', token), await undo(token)]) {
      expect(status).toBe(409)
      expect(html).toContain('autre compte')
    }
    for (const { access_token } of [first, other])
      expect((await service.get('me', { ...newClient(), bearer: access_token })).status).toBe(200)
    expect((await passwordLogin(next)).body.account.uuid).toBe(first.account.uuid)
  })

  test('restores a removed phone, and what was there before stays', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const { access_token } = await register(email)
    await change(phone, access_token)
    service.clock.advance(8 * DAY_MS)
    const intruder = await signIn(email, { device_fingerprint: 'never seen' })
    const body = { password: PASSWORD }
    const removed = await service.call('DELETE', '/api/v1/auth/phone', body, {
      ...newClient(),
      bearer: intruder.access_token,
    })
    expect(removed.status).toBe(200)
    await service.delivered()
    expect(linkTo(email)).toBeUndefined()
    expect((await undo(await tokenTo(phone))).status).toBe(200)
    const { account } = (await comeBack(phone)).body
    expect([account.email, account.phone]).toEqual([email, phone])
    await service.delivered()
    expect(service.inbox.textsTo(email).some((text) => text.includes('rétabli'))).toBe(true)
  })

  rule(
    'changes nothing by GET, HEAD, prefetch or a POST without the form, and its page loads nothing',
    async () => {
      const email = newEmail()
      const { access_token } = await register(email)
      await change(newEmail(), access_token)
      const token = await tokenTo(email)
      const prefetch = { headers: { 'sec-purpose': 'prefetch;prerender', purpose: 'prefetch' } }
      const pages = [
        await visit('GET', token),
        await visit('HEAD', token),
        await visit('GET', token, prefetch),
      ]
      for (const { status, headers } of pages) {
        expect(status).toBe(200)
        expect(headers.get('referrer-policy')).toBe('no-referrer')
        expect(headers.get('cache-control')).toBe('no-store')
        expect(headers.get('content-security-policy')).toMatch(
          /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; img-src 'self'/,
        )
        expect(headers.get('set-cookie')).toBeNull()
      }
      expect(pages[0]?.html).not.toMatch(/<script|https?:|src=|@import|url\(/)
      expect((await visit('POST', token)).status).toBe(404)
      expect((await visit('OPTIONS', token)).status).toBe(204)
      expect((await visit('PUT', token)).status).toBe(405)
      const asText = {
        method: 'POST',
        headers: { ...newClient().headers, 'content-type': 'text/plain' },
        body: `t=${token}`,
      }
      expect((await fetch(`${service.url}/undo`, asText)).status).toBe(415)
      expect((await service.get('me', { ...newClient(), bearer: access_token })).status).toBe(200)
      expect((await undo(token)).status).toBe(200)
      expect(service.log.join('')).not.toContain(token)
      expect(await countRows(service, 'messages', sql`messages::text like ${sql.raw(`'%${token}%'`)}`)).toBe(
        0,
      )
      const undoLines = service.log.map((line) => JSON.parse(line)).filter(({ route }) => route === '/undo')
      expect(undoLines.length).toBeGreaterThan(5)
    },
  )

  longTest('works in a browser that runs no scripts', async () => {
    const email = newEmail()
    const { access_token } = await register(email)
    await change(newEmail(), access_token)
    const token = await tokenTo(email)
    const browser = await launchBrowser({ 'auth.internal': new URL(service.url).host })
    const page = await browser.newPage({ javaScriptEnabled: false })
    await page.goto(`http://auth.internal/undo?t=${token}`)
    await page.getByRole('button').click()
    await page.getByRole('heading', { name: 'Votre contact est rétabli' }).waitFor()
    expect(page.url()).toStartWith('http://auth.internal/undo?done=')
    // Reload says it again, for a day, and a link that was changed says nothing.
    await page.reload()
    await page.getByRole('heading', { name: 'Votre contact est rétabli' }).waitFor()
    const shown = new URL(page.url())
    const told = async () => (await fetch(service.url + shown.pathname + shown.search)).status
    expect(await told()).toBe(200)
    service.clock.advance(DAY_MS)
    expect(await told()).toBe(404)
    shown.search = `${shown.search.slice(0, -4)}AAAA`
    service.clock.advance(-DAY_MS)
    expect(await told()).toBe(404)
    await browser.close()
    expect((await service.get('me', { ...newClient(), bearer: access_token })).status).toBe(401)
  })

  rule('is in the notice only where the device was not known seven days before', async () => {
    const known = { device_fingerprint: 'known for long' }
    const withLink = async (device: object, client: CallOptions, at: CallOptions, days = 8) => {
      const email = newEmail()
      await register(email, known, at)
      service.clock.advance(days * DAY_MS)
      const { access_token } = await signIn(email, device, client)
      await change(newEmail(), access_token, {}, client)
      await service.delivered()
      return linkTo(email) !== undefined
    }
    const [home, elsewhere, inside] = [from('198.51.100.7'), from('198.51.100.8'), from('10.9.9.9')]
    expect(await withLink(known, elsewhere, home)).toBe(false)
    expect(await withLink({ device_fingerprint: 'new' }, home, home)).toBe(true)
    expect(await withLink({}, home, home)).toBe(false)
    expect(await withLink({}, elsewhere, home)).toBe(true)
    // Behind one private address may be the whole world.
    expect(await withLink({}, inside, inside)).toBe(true)
    expect(await withLink(known, home, home, 6)).toBe(true)
  })

  rule('is in the notice where the session of a known device is used from somewhere else', async () => {
    const known = { device_fingerprint: 'known for long' }
    const [home, work, elsewhere] = [from('198.51.100.7'), from('198.51.100.9'), from('203.0.113.5')]
    const withLink = async (at: CallOptions, more: CallOptions[] = []) => {
      const email = newEmail()
      await register(email, known, home)
      for (const place of more) await signIn(email, known, place)
      service.clock.advance(8 * DAY_MS)
      const { access_token, refresh_token } = await signIn(email, known, home)
      // Nor does a refresh make the place known.
      expect((await service.post('refresh', { refresh_token }, at)).status).toBe(200)
      await change(newEmail(), access_token, {}, at)
      await service.delivered()
      return linkTo(email) !== undefined
    }
    expect([await withLink(home), await withLink(work, [work])]).toEqual([false, false])
    expect([await withLink(elsewhere), await withLink(work)]).toEqual([true, true])
  })

  rule(
    'of an older contact ends those of later ones: an intruder’s own link brings nothing back',
    async () => {
      const [email, second, third] = [newEmail(), newEmail(), newEmail()]
      const { access_token, account } = await register(email)
      service.clock.advance(1000)
      await change(second, access_token)
      service.clock.advance(1000)
      const intruder = await signIn(second)
      await change(third, intruder.access_token)
      const [owners, intruders] = [await tokenTo(email), await tokenTo(second)]
      expect((await undo(owners)).status).toBe(200)
      expect((await undo(intruders)).status).toBe(404)
      expect((await comeBack(email)).body.account.uuid).toBe(account.uuid)
    },
  )

  rule('of a later contact leaves the older one its own, until a reset by the older one', async () => {
    const [email, phone, planted] = [newEmail(), newPhone(), newPhone()]
    const { access_token, account } = await register(email)
    service.clock.advance(1000)
    await change(phone, access_token)
    await change(planted, access_token)
    const token = await tokenTo(phone)
    await comeBack(email)
    expect((await undo(token)).status).toBe(404)
    expect((await comeBack(email)).body.account).toMatchObject({ uuid: account.uuid, phone: null })
  })

  rule('leaves two factors as they were at the change: an app that came after it goes', async () => {
    const email = newEmail()
    const { access_token } = await register(email)
    await change(newEmail(), access_token)
    await enrolApp(access_token)
    expect((await undo(await tokenTo(email))).status).toBe(200)
    expect((await comeBack(email)).body.account.two_factor_enabled).toBe(false)

    const guarded = newEmail()
    const session = await register(guarded)
    const secret = await enrolApp(session.access_token)
    service.clock.advance(60_000)
    await change(newEmail(), session.access_token, { otp: appCode(secret, service.clock.now()) })
    expect((await undo(await tokenTo(guarded))).status).toBe(200)
    const due = await comeBack(guarded)
    expect([due.status, due.body.two_factor.methods[0]]).toEqual([202, 'totp'])
  })

  rule('is valid for seven days, and housekeeping forgets it then', async () => {
    const email = newEmail()
    const { access_token } = await register(email)
    await change(newEmail(), access_token)
    const token = await tokenTo(email)
    service.clock.advance(7 * DAY_MS - 60_000)
    expect((await visit('GET', token)).status).toBe(200)
    service.clock.advance(60_000)
    expect((await visit('GET', token)).status).toBe(404)
    expect((await undo(token)).status).toBe(404)
    service.clock.advance(1000)
    await service.inside.housekeeping.run()
    expect(await countRows(service, 'undo_links')).toBe(0)
  })

  rule('speaks the language of the account, from right to left where it is written so', async () => {
    const email = newEmail()
    await service.post('register', registration(email), { ...newClient(), language: 'ar' })
    const otp = await service.inbox.nextCode(email)
    await service.post('verify-account', { identifier: email, otp }, newClient())
    const { access_token } = await signIn(email)
    await change(newEmail(), access_token)
    const { html, headers } = await visit('GET', await tokenTo(email), {
      headers: { 'accept-language': 'en' },
    })
    expect(headers.get('content-language')).toBe('ar')
    expect(html).toContain('<html lang="ar" dir="rtl">')
    const mail = service.smtp.messages.findLast(({ envelope }) => envelope.to.includes(email))
    expect(mail?.html).toMatch(/<a dir="ltr" href="http:\/\/auth\.internal\/undo\?t=[\w-]{22}"/)
  })

  rule('is looked up three hundred times a minute from one address, and no more', async () => {
    const client = from('203.0.113.77')
    const visits = Array.from({ length: 301 }, (_, guess) => visit('GET', `guess-${guess}`, client))
    const statuses = (await Promise.all(visits)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 404)).toHaveLength(300)
    const last = await visit('POST', 'x', client)
    expect([last.status, last.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
