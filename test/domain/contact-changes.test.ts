/** A change of contact that an administrator undoes while the link of its notice is open; with limits on. */
import { describe, expect, test } from 'bun:test'
import { asOperator, listening, signInAs } from '../helpers/administration.ts'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { newClient } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useLimited, useReplica } from '../helpers/use-service.ts'

const DAY_MS = 86_400_000

describe('a changed contact', () => {
  const service = useLimited({ settings: listening })
  const replica = useReplica(service, { settings: listening })
  const headers = () => newClient().headers as Record<string, string>
  const call = (method: string, path: string) => asOperator(service, method, path)
  const accountOf = async (uuid: string) => (await call('GET', `accounts/${uuid}`)).body.account

  async function register(email: string) {
    await service.post('register', registration(email), newClient())
    const otp = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: email, otp }, newClient())).status).toBe(201)
    const { body } = await service.post('login', { identifier: email, password: PASSWORD }, newClient())
    return { uuid: body.account.uuid as string, bearer: body.access_token as string }
  }

  async function change(bearer: string, email: string, client = newClient()) {
    const asked = await service.post('email/change', { email, password: PASSWORD }, { ...client, bearer })
    expect(asked.status).toBe(201)
    const otp = await service.inbox.nextCode(email)
    expect((await service.post('email/confirm', { otp }, { ...client, bearer })).status).toBe(200)
  }

  /** An account whose e-mail address was changed on a device that it does not know. */
  async function changed() {
    const [before, after] = [newEmail(), newEmail()]
    const { uuid, bearer } = await register(before)
    await change(bearer, after)
    const [{ id }] = (await accountOf(uuid)).contact_changes
    return { uuid, bearer, before, after, path: `accounts/${uuid}/contact-changes/${id}` }
  }

  test('is shown masked, and support brings it back, which is recorded and told to both contacts', async () => {
    const { uuid, bearer, before, after, path } = await changed()
    const account = await accountOf(uuid)
    expect(account.contact_changes).toEqual([
      {
        id: expect.any(Number),
        contact: 'email',
        former: `${before.slice(0, 1)}•••@example.com`,
        changed_at: expect.any(String),
        can_undo: true,
      },
    ])
    const [event] = (await call('GET', `events?account=${uuid}&type=identifier.changed`)).body.items
    expect(event.created_at).toBe(account.contact_changes[0].changed_at)
    const listed = (await call('GET', `accounts?query=${encodeURIComponent(after)}`)).body.items[0]
    expect(listed.contact_changes).toBeUndefined()

    const { page, uuid: adas } = await signInAs(service, 'support', headers())
    const undone = await page.call('DELETE', path)
    expect([undone.status, undone.body.account.email]).toEqual([200, before])
    expect(undone.body.account.contact_changes).toMatchObject([{ can_undo: false }, { can_undo: false }])
    expect((await service.get('me', { ...newClient(), bearer })).status).toBe(401)
    const login = { identifier: before, password: PASSWORD }
    expectRefusal(await service.post('login', login, newClient()), 'invalid_credentials')
    const [used] = (await call('GET', `events?account=${uuid}&type=undo.used`)).body.items
    expect(used.actor).toMatchObject({ type: 'administrator', id: adas })
    expect(used.data).toEqual({ contact: 'email' })
    await service.delivered()
    for (const contact of [before, after])
      expect(service.inbox.textsTo(contact).at(-1)).toMatch(/est rétabli\./)
    expectRefusal(await page.call('DELETE', path), 'contact_not_found')
  })

  test('comes back once, for 32 callers on two processes', async () => {
    const { uuid, before, path } = await changed()
    const answers = await race([service, replica], (at) => asOperator(at, 'DELETE', path))
    onlySuccess(answers, 'contact_not_found')
    expect((await accountOf(uuid)).email).toBe(before)
    expect((await call('GET', `events?account=${uuid}&type=undo.used`)).body.items).toHaveLength(1)
  })

  test('stays where somebody else has it, where it is too old, and where it is of another account', async () => {
    const taken = await changed()
    await register(taken.before)
    expect((await accountOf(taken.uuid)).contact_changes).toMatchObject([{ can_undo: false }])
    expectRefusal(await call('DELETE', taken.path), 'identifier_taken')
    const [one, other] = [await changed(), await changed()]
    const foreign = `accounts/${other.uuid}/contact-changes/${one.path.split('/').at(-1)}`
    expectRefusal(await call('DELETE', foreign), 'contact_not_found')
    expectRefusal(await call('DELETE', `accounts/${one.uuid}/contact-changes/x`), 'contact_not_found')
    expectRefusal(
      await call('DELETE', `accounts/${crypto.randomUUID()}/contact-changes/1`),
      'account_not_found',
    )
    service.clock.advance(7 * DAY_MS + 1)
    expect((await accountOf(one.uuid)).contact_changes).toBeUndefined()
    expectRefusal(await call('DELETE', one.path), 'contact_not_found')
    expect((await accountOf(one.uuid)).email).toBe(one.after)
  })

  test('has no way back where the owner changed it on a device that the account knew for long', async () => {
    const [before, after] = [newEmail(), newEmail()]
    const home = newClient()
    await service.post('register', registration(before), home)
    const otp = await service.inbox.nextCode(before)
    await service.post('verify-account', { identifier: before, otp }, home)
    const device = { device_fingerprint: 'the laptop at home' }
    const login = { identifier: before, password: PASSWORD, ...device }
    await service.post('login', login, home)
    service.clock.advance(8 * DAY_MS)
    const { body } = await service.post('login', login, home)
    await change(body.access_token, after, home)
    const { contact_changes: changes } = await accountOf(body.account.uuid)
    expect(changes).toMatchObject([{ contact: 'email', can_undo: false }])
    const path = `accounts/${body.account.uuid}/contact-changes/${changes[0].id}`
    expectRefusal(await call('DELETE', path), 'contact_not_found')
    expect((await accountOf(body.account.uuid)).email).toBe(after)
  })

  test('is brought back by nobody who may only read, and asks for both factors again', async () => {
    const { path } = await changed()
    const { page: viewer } = await signInAs(service, 'viewer', headers())
    expectRefusal(await viewer.call('DELETE', path), 'insufficient_scope')
    const { page } = await signInAs(service, 'support', headers())
    service.clock.advance(6 * 60_000)
    expectRefusal(await page.call('DELETE', path), 'reauthentication_required')
  })
})
