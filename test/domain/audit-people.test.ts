/** The audit trail by who did it and when, and with the names of people. */
import { describe, expect, test } from 'bun:test'
import { asOperator, listening, onListener, signInAs } from '../helpers/administration.ts'
import { newEmail } from '../helpers/api-client.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { useService } from '../helpers/use-service.ts'

const HOUR_MS = 3_600_000

describe('the audit trail', () => {
  const service = useService({ settings: listening })
  const call = (path: string) => asOperator(service, 'GET', path)
  const uuidOf = async (email: string) =>
    (await call(`accounts?query=${encodeURIComponent(email)}`)).body.items[0].uuid as string
  const eventsOf = async (query: string) =>
    (await call(`events?limit=200&${query}`)).body.items as {
      type: string
      account: string | null
      account_name?: string | null
      actor: { type: string; id: string | null }
      count?: number
      data: { count?: number }
    }[]
  const now = () => service.clock.now().toISOString()
  const listedBy = async (actor: string) =>
    (await eventsOf(`type=accounts.listed&actor=${actor}`)).reduce(
      (sum, { data }) => sum + (data.count ?? 0),
      0,
    )

  test('tells what a colleague did, by any part of their address, and what all of them did', async () => {
    const bob = await uuidOf((await service.signUp(newEmail())).identifier)
    const ada = await signInAs(service, 'support')
    const grace = await signInAs(service, 'support')
    await ada.page.call('PATCH', `accounts/${bob}`, { locked: true })
    await grace.page.call('PATCH', `accounts/${bob}`, { locked: false })
    const part = ada.person.identifier.slice(2, -4).toUpperCase()
    const ofAda = await eventsOf(`actor=${encodeURIComponent(part)}`)
    expect(ofAda.map(({ type }) => type)).toContain('account.locked')
    for (const { actor } of ofAda) expect(actor).toMatchObject({ type: 'administrator', id: ada.uuid })
    const byUuid = await eventsOf(`actor=${ada.uuid.toUpperCase()}&actor_type=administrator`)
    expect(byUuid.map(({ type }) => type)).toContain('account.locked')
    // Her own registration is no work of hers.
    const own = await eventsOf(`actor=${encodeURIComponent(part)}&actor_type=account`)
    expect(own.map(({ type }) => type)).toContain('account.registered')
    const ofAll = await eventsOf(`actor_type=administrator&account=${bob}`)
    expect(ofAll.map(({ type, actor }) => [type, actor.id])).toEqual(
      expect.arrayContaining([
        ['account.locked', ada.uuid],
        ['account.unlocked', grace.uuid],
      ]),
    )
    expect(ofAll.every(({ actor }) => actor.type === 'administrator')).toBe(true)
    const ofRoot = await eventsOf(`actor=root&actor_type=operator`)
    expect(ofRoot.length).toBeGreaterThan(0)
    expect(await eventsOf(`actor=nobody-${crypto.randomUUID()}`)).toEqual([])
  })

  test('ends before the time that `until` names, in lists and where it is followed', async () => {
    const email = (await service.signUp(newEmail())).identifier
    const uuid = await uuidOf(email)
    service.clock.advance(HOUR_MS)
    const middle = now()
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { locked: true })
    const typesOf = async (query: string) => (await eventsOf(query)).map(({ type }) => type)
    expect(await typesOf(`account=${uuid}&until=${middle}`)).not.toContain('account.locked')
    expect(await typesOf(`account=${uuid}&until=${middle}`)).toContain('account.registered')
    expect(await typesOf(`account=${uuid}&since=${middle}`)).toContain('account.locked')
    expect(await typesOf(`account=${uuid}&since=${middle}&until=${middle}`)).toEqual([])
    const ofOne = (await call(`accounts/${uuid}/events?until=${middle}`)).body.items
    expect(ofOne.map(({ type }: { type: string }) => type)).not.toContain('account.locked')
    const followed = (await call(`events?after=0&account=${uuid}&until=${middle}&limit=200`)).body.items
    expect(followed.map(({ type }: { type: string }) => type)).not.toContain('account.locked')
    expect(followed.map(({ type }: { type: string }) => type)).toContain('account.registered')
  })

  test('waits for an event of the kind of actor that was asked for', async () => {
    const uuid = await uuidOf((await service.signUp(newEmail())).identifier)
    const newest = (await call('events?limit=1')).body.items[0].id
    const { page } = await signInAs(service, 'support')
    const waiting = call(`events?after=${newest}&actor_type=operator&account=${uuid}&wait=20`)
    await page.call('PATCH', `accounts/${uuid}`, { locked: true })
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { locked: false })
    const { items } = (await waiting).body
    expect(items.map(({ type }: { type: string }) => type)).toEqual(['account.unlocked'])
  })

  test('says who an event is about, which is counted like every list of people', async () => {
    const email = (await service.signUp(newEmail())).identifier
    const uuid = await uuidOf(email)
    const { page, uuid: adas } = await signInAs(service, 'viewer')
    const plain = (await page.call('GET', 'events?limit=200')).body.items
    expect(plain.every((event: object) => !('account_name' in event))).toBe(true)
    expect(await listedBy(adas)).toBe(0)
    const named = (await page.call('GET', 'events?limit=200&names=true')).body.items
    expect(named.find(({ account }: { account: string }) => account === uuid).account_name).toBe(email)
    const people = new Set(named.flatMap(({ account }: { account: string | null }) => account ?? []))
    expect(await listedBy(adas)).toBe(people.size)
    const looks = () => eventsOf(`account=${uuid}&type=account.viewed&actor=${adas}`)
    expect(await looks()).toEqual([])
    await page.call('GET', `events?account=${uuid}&names=true`)
    expect(await looks()).toHaveLength(1)
    expect(await listedBy(adas)).toBe(people.size)
  })

  test('counts a search for the events of one person as a look at that person', async () => {
    const email = (await service.signUp(newEmail())).identifier
    const uuid = await uuidOf(email)
    const { page, uuid: adas } = await signInAs(service, 'viewer')
    await page.call('GET', `events?account=${encodeURIComponent(email)}`)
    expect(await eventsOf(`account=${uuid}&type=account.viewed&actor=${adas}`)).toHaveLength(1)
  })

  test('counts a look at one person however their uuid is written, and at their messages', async () => {
    for (const path of ['events?names=true&account=', 'messages?to='])
      for (const write of [(uuid: string) => uuid, (uuid: string) => uuid.toUpperCase()]) {
        const uuid = await uuidOf((await service.signUp(newEmail())).identifier)
        const { page, uuid: adas } = await signInAs(service, 'viewer')
        expect((await page.call('GET', `${path}${write(uuid)}`)).body.items.length).toBeGreaterThan(0)
        expect(await eventsOf(`account=${uuid}&type=account.viewed&actor=${adas}`)).toHaveLength(1)
      }
  })

  test('names nobody who was erased, and nothing to a token that may not see people', async () => {
    const uuid = await uuidOf((await service.signUp(newEmail())).identifier)
    await asOperator(service, 'DELETE', `accounts/${uuid}`)
    const gone = await eventsOf(`account=${uuid}&names=true`)
    expect(gone.length).toBeGreaterThan(0)
    expect(gone.every(({ account_name: name }) => name === null)).toBe(true)
    const make = async (scopes: string[]) => {
      const body = { name: 'log', scopes, expires_in: '1h' }
      return (await asOperator(service, 'POST', 'tokens', body)).body.token as string
    }
    const by = async (scopes: string[], path: string) =>
      onListener(service, 'GET', path, undefined, {
        headers: { authorization: `Bearer ${await make(scopes)}` },
      })
    expectRefusal(await by(['events:read'], 'events?names=true'), 'insufficient_scope')
    expectRefusal(await by(['events:read'], 'events?account=example'), 'insufficient_scope')
    expect((await by(['events:read'], `events?account=${uuid}`)).status).toBe(200)
    expect((await by(['events:read', 'accounts:read'], 'events?account=example')).status).toBe(200)
    expect((await by(['events:read'], 'events')).status).toBe(200)
    expect((await by(['events:read', 'accounts:read'], 'events?names=true')).status).toBe(200)
  })

  test('refuses what is no filter, and names the field', async () => {
    for (const [query, field] of [
      ['until=yesterday', 'until'],
      ['since=2026-02-31', 'since'],
      ['actor_type=nobody', 'actor_type'],
      ['names=yes', 'names'],
      ['names=true&after=0', 'names'],
    ] as const)
      expectInvalid(await call(`events?${query}`), { [field]: 'invalid_value' })
    expectInvalid(await call(`accounts/${crypto.randomUUID()}/events?until=x`), { until: 'invalid_value' })
  })
})
