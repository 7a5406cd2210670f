/** The repairs by an administrator: contacts, two factors, passkeys, identities. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { protectByApp } from '../helpers/authenticator.ts'
import { countRows, dumpTables } from '../helpers/database.ts'
import { onlySuccess, race, untilAvailable } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import type { TestService } from '../helpers/service.ts'
import { useLimited, useService } from '../helpers/use-service.ts'

const HOUR_MS = 3_600_000

const linkGoogle = ({ inside }: TestService, { id, uuid }: { id: number; uuid: string }) =>
  inside.database.all(
    statement(sql`
      insert into identities (account_id, provider, issuer, subject, created_at)
      values (${sql.raw(String(id))}, 'google', 'https://accounts.google.com', ${sql.raw(`'${uuid}'`)}, now())`),
    {},
  )

describe('support', () => {
  const service = useService()
  const call = operatorOf(service)
  const person = async () => {
    const { person: known, bearer, account } = await service.signedIn()
    return {
      ...known,
      bearer: bearer as string,
      uuid: account.uuid as string,
      id: account.id as number,
    }
  }
  const typesOf = async (uuid: string): Promise<string[]> =>
    (await call('GET', `accounts/${uuid}/events`)).body.items.map(({ type }: { type: string }) => type)
  const protectedAccount = async () => {
    const identifier = newEmail()
    const protectedPerson = await protectByApp(service, identifier)
    const { uuid } = (await call('GET', `accounts?query=${identifier}`)).body.items[0]
    return { ...protectedPerson, identifier, uuid: uuid as string }
  }
  const isOn = async (uuid: string) =>
    (await call('GET', `accounts/${uuid}`)).body.account.two_factor_enabled as boolean

  describe('contacts', () => {
    test('a contact is replaced, and the old one and the new one are told', async () => {
      const { identifier, password, uuid } = await person()
      const email = newEmail()
      const { status, body } = await call('PUT', `accounts/${uuid}/email`, { value: email, verified: true })
      expect([status, body.account.email]).toEqual([200, email])
      expect(body.account.email_verified_at).not.toBeNull()
      await service.delivered()
      expect(service.inbox.textsTo(email)).toHaveLength(1)
      expect(service.inbox.textsTo(identifier)).toHaveLength(2)
      await service.logIn({ identifier: email, password })
      expectRefusal(await service.post('login', { identifier, password }), 'invalid_credentials')
      expect(await typesOf(uuid)).toContain('identifier.changed')
    })

    test('a notice names the address of the person who acted, and never that of an administrator', async () => {
      const { identifier, password, uuid, bearer } = await person()
      const chosen = { password: 'another long phrase', password_confirmation: 'another long phrase' }
      await service.post('password/change', { current_password: password, ...chosen }, { bearer })
      await service.delivered()
      expect(service.inbox.textsTo(identifier).at(-1)).toMatch(
        /mot de passe .* a changé.*Adresse IP\u00a0: /s,
      )
      await call('PUT', `accounts/${uuid}/email`, { value: newEmail(), verified: true })
      await service.delivered()
      expect(service.inbox.textsTo(identifier).at(-1)).toMatch(/adresse e-mail .* a changé(?!.*Adresse IP)/s)
    })

    test('a contact that nobody vouches for is a claim, and the same one again stays verified', async () => {
      const { identifier, uuid } = await person()
      const phone = newPhone()
      const added = await call('PUT', `accounts/${uuid}/phone`, { value: phone })
      expect(added.body.account).toMatchObject({ phone, phone_verified_at: null })
      const same = await call('PUT', `accounts/${uuid}/email`, { value: identifier.toUpperCase() })
      expect(same.body.account.email_verified_at).not.toBeNull()
      const confirmed = await call('PUT', `accounts/${uuid}/phone`, { value: phone, verified: true })
      expect(confirmed.body.account.phone_verified_at).not.toBeNull()
      expect(await typesOf(uuid)).toContain('identifier.added')
    })

    test('somebody else’s contact is refused, and a registration that waits for it ends', async () => {
      const [mine, other] = [await person(), await person()]
      const taken = { value: other.identifier, verified: true }
      expectRefusal(await call('PUT', `accounts/${mine.uuid}/email`, taken), 'identifier_taken')
      const waiting = newEmail()
      await service.post('register', registration(waiting))
      expect(
        (await call('PUT', `accounts/${mine.uuid}/email`, { value: waiting, verified: true })).status,
      ).toBe(200)
      expect((await call('GET', `accounts?query=${waiting}`)).body.items).toHaveLength(1)
      expectInvalid(await call('PUT', `accounts/${mine.uuid}/phone`, { value: '12' }), {
        value: 'invalid_phone',
      })
      expectInvalid(await call('PUT', `accounts/${mine.uuid}/email`, { value: 'x' }), {
        value: 'invalid_email',
      })
    })

    test('of two accounts that get one contact at once, one has it', async () => {
      const people = await Promise.all([person(), person()])
      const value = newEmail()
      const answers = await race(people, ({ uuid }) =>
        call('PUT', `accounts/${uuid}/email`, { value, verified: true }),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
      const { items } = (await call('GET', `accounts?query=${value}`)).body
      expect(items).toHaveLength(1)
    })

    test('a contact is removed and told, but not the last verified one, and the account says which can go', async () => {
      const { identifier, password, uuid } = await person()
      expectRefusal(await call('DELETE', `accounts/${uuid}/email`), 'last_sign_in_method')
      expectRefusal(await call('DELETE', `accounts/${uuid}/phone`), 'contact_not_found')
      const phone = newPhone()
      const claimed = await call('PUT', `accounts/${uuid}/phone`, { value: phone })
      expect(claimed.body.account.removable_contacts).toEqual(['phone'])
      const both = await call('PUT', `accounts/${uuid}/phone`, { value: phone, verified: true })
      expect(both.body.account.removable_contacts).toEqual(['email', 'phone'])
      const { status, body } = await call('DELETE', `accounts/${uuid}/email`)
      expect([status, body.account.email, body.account.phone]).toEqual([200, null, phone])
      expect(body.account.removable_contacts).toEqual([])
      await service.delivered()
      expect(service.inbox.textsTo(identifier).length).toBeGreaterThan(2)
      await service.logIn({ identifier: phone, password })
      expect(await typesOf(uuid)).toContain('identifier.removed')
    })
  })

  /** The call by which the person chooses a new password with the code that was just sent. */
  const waitingReset = async (identifier: string) => ({
    identifier,
    otp: await service.askCode('password/forgot', identifier),
    password: 'another long phrase',
    password_confirmation: 'another long phrase',
  })

  test('a refused removal of a contact leaves the code that the person waits for; a removal ends it', async () => {
    const { identifier, uuid } = await person()
    const waiting = await waitingReset(identifier)
    expectRefusal(await call('DELETE', `accounts/${uuid}/email`), 'last_sign_in_method')
    expectRefusal(await call('DELETE', `accounts/${uuid}/phone`), 'contact_not_found')
    expect((await service.post('password/reset', waiting)).status).toBe(200)
    await call('PUT', `accounts/${uuid}/phone`, { value: newPhone(), verified: true })
    const ended = await waitingReset(identifier)
    expect((await call('DELETE', `accounts/${uuid}/phone`)).status).toBe(200)
    expectRefusal(await service.post('password/reset', ended), 'invalid_code')
  })

  test('of 32 accounts that get one contact at once, the others keep the codes that their people wait for', async () => {
    const accounts = await Promise.all(Array.from({ length: 32 }, person))
    const waiting = await Promise.all(accounts.map(({ identifier }) => waitingReset(identifier)))
    const value = newPhone()
    const answers = await race(accounts, ({ uuid }) =>
      untilAvailable(() => call('PUT', `accounts/${uuid}/phone`, { value, verified: true })),
    )
    const winner = answers.indexOf(onlySuccess(answers, 'identifier_taken'))
    const resets = await Promise.all(waiting.map((reset) => service.post('password/reset', reset)))
    expect(resets.map(({ status }) => status)).toEqual(resets.map((_, at) => (at === winner ? 422 : 200)))
  })

  describe('two factors', () => {
    test('are turned off at once for an operator, and the owner is told', async () => {
      const { identifier, person: known, uuid } = await protectedAccount()
      const before = await service.delivered()
      const { status, body } = await call('DELETE', `accounts/${uuid}/two-factor`)
      expect([status, body.due_at]).toEqual([200, null])
      expect(await service.delivered()).toBe(before + 1)
      await service.logIn({ identifier, password: known.password })
      expectRefusal(await call('DELETE', `accounts/${uuid}/two-factor`), 'two_factor_not_enabled')
      const [event] = (await call('GET', `events?type=two_factor.disabled&account=${uuid}`)).body.items
      expect(event.actor).toMatchObject({ type: 'operator', name: 'root' })
    })

    const delayed = async (uuid: string) => {
      const account = await service.inside.services.directory.find(uuid)
      return service.inside.services.twoFactorRemovals.remove(account, { delaySeconds: 86_400 })
    }
    const linkTo = async (identifier: string) => {
      await service.delivered()
      const text = service.inbox.textsTo(identifier).findLast((one) => one.includes('/stop?t=')) ?? ''
      return /http:\/\/auth\.internal(\/stop\?t=([\w-]{43}))/.exec(text) ?? ['', '', '']
    }
    const press = (t: string) =>
      fetch(`${service.url}/stop`, { method: 'POST', body: new URLSearchParams({ t }) }).then(
        async (answer) => `${answer.url} ${await answer.text()}`,
      )
    const keepHouse = async (hours: number) => {
      service.clock.advance(hours * HOUR_MS)
      await service.inside.housekeeping.run()
    }

    test('with a delay they go off after a day, in the name of whoever asked', async () => {
      const { identifier, uuid } = await protectedAccount()
      const { dueAt } = await delayed(uuid)
      expect((dueAt?.getTime() ?? 0) - service.clock.now().getTime()).toBeWithin(86_390_000, 86_400_001)
      expect(await delayed(uuid)).toEqual({ dueAt })
      await service.delivered()
      expect(service.inbox.textsTo(identifier).filter((text) => text.includes('/stop?t='))).toHaveLength(1)
      await keepHouse(23)
      expect(await isOn(uuid)).toBe(true)
      await keepHouse(2)
      expect(await isOn(uuid)).toBe(false)
      const [event] = (await call('GET', `events?type=two_factor.disabled&account=${uuid}`)).body.items
      expect(event.actor.type).toBe('system')
      expect(await countRows(service, 'two_factor_removals')).toBe(0)
    })

    test('the owner keeps them on by one press of a button; opening the link changes nothing', async () => {
      const { identifier, uuid } = await protectedAccount()
      await delayed(uuid)
      const [, path, token = ''] = await linkTo(identifier)
      expect(token).toHaveLength(43)
      expect(await dumpTables(service)).not.toContain(token)
      for (let count = 0; count < 2; count++) {
        const page = await fetch(`${service.url}${path}`, { headers: { 'accept-language': 'en' } })
        expect(page.headers.get('content-security-policy')).toStartWith(
          "default-src 'none'; style-src 'sha256-",
        )
        expect(page.headers.get('referrer-policy')).toBe('no-referrer')
        const html = await page.text()
        expect(html).toContain('<button class="button main">Keep it on</button>')
        expect(html).not.toMatch(/<script|src=|https?:/)
      }
      const pages = await race([service], () => press(token))
      const [winner = '', ...others] = pages.filter((page) => page.includes('reste active'))
      expect(others).toEqual([])
      // Reload and Back say it again.
      const [address = ''] = winner.split(' ')
      expect(address).toContain('/stop?done=')
      expect(await (await fetch(address)).text()).toContain('reste active')
      const late = await fetch(`${service.url}${path}`, { headers: { 'accept-language': 'en' } })
      expect(await late.text()).toMatch(/<h1>There is nothing to stop here any more\.<\/h1>\s*<\/main>/)
      await keepHouse(25)
      expect(await isOn(uuid)).toBe(true)
      expect(await typesOf(uuid)).toContain('undo.used')
      expect(service.log.join('\n')).not.toContain(token)
    })

    test('an administrator sees the removal that waits, and keeps two factors on', async () => {
      const { uuid } = await protectedAccount()
      const removalAt = async () => (await call('GET', `accounts/${uuid}`)).body.account.removal_at
      expect(await removalAt()).toBeUndefined()
      const { dueAt } = await delayed(uuid)
      expect(await removalAt()).toBe(dueAt?.toISOString())
      for (let count = 0; count < 2; count++)
        expect((await call('DELETE', `accounts/${uuid}/two-factor/removal`)).status).toBe(200)
      expect(await removalAt()).toBeUndefined()
      await keepHouse(25)
      expect(await isOn(uuid)).toBe(true)
      const stopped = (await typesOf(uuid)).filter((type: string) => type === 'undo.used')
      expect(stopped).toHaveLength(1)
      const nobody = await call('DELETE', `accounts/${crypto.randomUUID()}/two-factor/removal`)
      expectRefusal(nobody, 'account_not_found')
    })

    test('a link that nobody made here has no button', async () => {
      for (const token of ['', 'x', 'A'.repeat(43)]) {
        const page = await fetch(`${service.url}/stop?t=${token}`)
        expect(await page.text()).not.toContain('<button')
        expect(await press(token)).not.toContain('reste active')
      }
    })

    test('stopping races the removal, and one of both has it', async () => {
      const waiting = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { identifier, uuid } = await protectedAccount()
          await delayed(uuid)
          const [, , token = ''] = await linkTo(identifier)
          return { uuid, token }
        }),
      )
      service.clock.advance(25 * HOUR_MS)
      const removeDue = () => service.inside.services.twoFactorRemovals.removeDue(service.clock.now(), 10)
      const [, ...pages] = await Promise.all([removeDue(), ...waiting.map(({ token }) => press(token))])
      for (const [index, { uuid }] of waiting.entries())
        expect(await isOn(uuid)).toBe(pages[index]?.includes('reste active') === true)
    })

    test('an owner who turns them off leaves nothing that waits', async () => {
      const { person: known, uuid, bearer, recoveryCodes } = await protectedAccount()
      await delayed(uuid)
      const proof = { password: known.password, otp: recoveryCodes[0] }
      expect((await service.post('2fa/disable', proof, { bearer })).status).toBe(200)
      expect(await countRows(service, 'two_factor_removals')).toBe(0)
    })
  })

  describe('races', () => {
    test('no login that is under way outlives a lock', async () => {
      const { identifier, password, uuid } = await person()
      const attempts = Array.from({ length: 16 }, () => service.post('login', { identifier, password }))
      const locked = call('PATCH', `accounts/${uuid}`, { locked: true })
      const [answers, { status }] = [await Promise.all(attempts), await locked]
      expect(status).toBe(200)
      for (const { body } of answers.filter((answer) => answer.status === 200))
        expect((await service.get('me', { bearer: body.access_token })).status).toBe(401)
      expectRefusal(await service.post('login', { identifier, password }), 'account_locked')
    })

    test('no refresh outlives an erasure', async () => {
      const known = await service.signUp(newEmail())
      const sessions = await Promise.all(Array.from({ length: 8 }, () => service.logIn(known)))
      const uuid = sessions[0]?.account.uuid
      const refreshes = sessions.map(({ refresh_token }) => service.post('refresh', { refresh_token }))
      const erased = call('DELETE', `accounts/${uuid}`)
      const [answers, { status }] = [await Promise.all(refreshes), await erased]
      expect(status).toBe(200)
      for (const { body } of answers.filter((answer) => answer.status === 200)) {
        expect((await service.get('me', { bearer: body.access_token })).status).toBe(401)
        expect((await service.post('refresh', { refresh_token: body.refresh_token })).status).toBe(401)
      }
      expect((await call('GET', `accounts/${uuid}`)).status).toBe(404)
    })
  })

  describe('passkeys and identities', () => {
    test('are listed and removed, and the owner is told', async () => {
      const { id, uuid } = await person()
      const passkey = crypto.randomUUID()
      const { database } = service.inside
      await database.all(
        statement(sql`
          insert into passkeys (id, account_id, credential_id, public_key, user_handle, counter, name, created_at,
                                backup_eligible, backed_up, transports, aaguid, rp_id)
          values (${sql.raw(`'${passkey}'`)}, ${sql.raw(String(id))}, ${sql.raw(`'${passkey}'`)}, 'k', 'h', 0, 'Blue key',
                  now(), true, true, '[]', 'x', 'example.com')`),
        {},
      )
      await linkGoogle(service, { id, uuid })
      const [listed] = (await call('GET', `accounts/${uuid}/passkeys`)).body.items
      expect(listed).toMatchObject({ id: passkey, name: 'Blue key', backed_up: true })
      const [identity] = (await call('GET', `accounts/${uuid}/identities`)).body.items
      expect(identity).toMatchObject({ provider: 'google', provider_uid: uuid })
      const before = await service.delivered()
      expect((await call('DELETE', `accounts/${uuid}/passkeys/${passkey}`)).status).toBe(200)
      expect((await call('DELETE', `accounts/${uuid}/identities/${identity.id}`)).status).toBe(200)
      expect(await service.delivered()).toBe(before + 2)
      expectRefusal(await call('DELETE', `accounts/${uuid}/passkeys/${passkey}`), 'passkey_not_found')
      expectRefusal(await call('DELETE', `accounts/${uuid}/passkeys/x`), 'passkey_not_found')
      expectRefusal(await call('DELETE', `accounts/${uuid}/identities/${identity.id}`), 'identity_not_found')
      expect(await typesOf(uuid)).toEqual(expect.arrayContaining(['passkey.removed', 'identity.unlinked']))
    })
  })
})

describe('what tells a person that something was removed', () => {
  const service = useLimited()
  const call = operatorOf(service)

  test('is not used up by removals that are refused', async () => {
    const email = newEmail()
    const { account } = (await call('POST', 'accounts', { email, verified: true })).body
    await linkGoogle(service, account)
    const path = `accounts/${account.uuid}/identities`
    const identity = `${path}/${(await call('GET', path)).body.items[0].id}`
    for (let i = 0; i < 20; i++) expectRefusal(await call('DELETE', identity), 'last_sign_in_method')
    await service.inside.database.all(
      statement(sql`update accounts set password_digest = 'any' where id = ${sql.raw(String(account.id))}`),
      {},
    )
    expect((await call('DELETE', identity)).status).toBe(200)
    await service.delivered()
    expect(service.inbox.textsTo(email)).toHaveLength(1)
  })
})

describe('a username that is taken', () => {
  const service = useLimited()
  const call = operatorOf(service)

  test('is refused before a notice or an invitation is counted', async () => {
    const [email, invited, username] = [newEmail(), newEmail(), 'taken_by_ada']
    await call('POST', 'accounts', { email: newEmail(), username })
    const { account } = (await call('POST', 'accounts', { email, verified: true })).body
    const path = `accounts/${account.uuid}`
    await call('PATCH', path, { locked: true })
    for (let i = 0; i < 20; i++) {
      expectRefusal(await call('PATCH', path, { locked: false, username }), 'username_taken')
      const body = { email: invited, username, invite: true }
      expectRefusal(await call('POST', 'accounts', body), 'username_taken')
    }
    expect((await call('PATCH', path, { locked: false, username: 'of_bob' })).status).toBe(200)
    expect((await call('POST', 'accounts', { email: invited, invite: true })).status).toBe(201)
    await service.delivered()
    expect([email, invited].map((to) => service.inbox.textsTo(to).length)).toEqual([1, 1])
  })
})
