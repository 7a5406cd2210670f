/** A refresh token that comes a second time: to whom its successor is given again, and for how long. */
import { describe, expect } from 'bun:test'
import { newEmail } from '../helpers/api-client.ts'
import { createFrozenClock, from } from '../helpers/limited-service.ts'
import { racingShapes, testsOn } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const [HOME, THERE] = ['198.51.100.7', '203.0.113.9']
const DAY_MS = 86_400_000

describe.each(racingShapes)('a refresh token that comes again, on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useLimited({
    shape,
    clock: createFrozenClock(),
    settings: { limits: { enabled: false }, tokens: { refresh_lifetime: '30d' } },
  })

  async function opened(device: Record<string, string> = {}) {
    const person = await service.signUp(newEmail())
    const login = await service.post('login', { ...person, ...device }, from(HOME))
    const first: string = login.body.refresh_token
    const refresh = (refresh_token: string, address: string, fields: Record<string, string> = {}) =>
      service.post('refresh', { refresh_token, ...fields }, from(address))
    const { body } = await refresh(first, HOME, device)
    return { person, first, successor: body.refresh_token as string, refresh }
  }

  const outcome = ({ status, body }: { status: number; body: { refresh_token?: string } }) =>
    status === 200 ? body.refresh_token : status

  test('within 10 seconds gives anybody the same successor', async () => {
    const { first, successor, refresh } = await opened()
    service.clock.advance(9_000)
    expect(outcome(await refresh(first, THERE))).toBe(successor)
  })

  test('after that gives it to the address of the session alone, for 30 seconds', async () => {
    const { first, successor, refresh } = await opened()
    service.clock.advance(29_000)
    expect(outcome(await refresh(first, HOME))).toBe(successor)
    expect(outcome(await refresh(first, THERE))).toBe(401)
    expect(outcome(await refresh(successor, HOME))).toBe(401)
  })

  rule('a session that named its device is not served to an address', async () => {
    const device = { device_fingerprint: 'a-device-of-its-own' }
    const { person, first, successor, refresh } = await opened(device)
    service.clock.advance(29_000)
    expect(outcome(await refresh(first, THERE, device))).toBe(successor)
    expect(outcome(await refresh(first, HOME))).toBe(401)
    await waitFor(() => service.inbox.textsTo(person.identifier).some((text) => /deux endroits/.test(text)), {
      what: 'the notice',
    })
  })

  test('later it serves the device of the session twice a week, and ends the session the third time', async () => {
    const device = { device_fingerprint: 'a-device-that-sleeps' }
    const { first, successor, refresh } = await opened(device)
    for (const again of [1, 2]) {
      service.clock.advance(DAY_MS)
      expect([again, outcome(await refresh(first, THERE, device))]).toEqual([again, successor])
    }
    service.clock.advance(DAY_MS)
    expect(outcome(await refresh(first, THERE, device))).toBe(401)
    expect(outcome(await refresh(successor, HOME, device))).toBe(401)
  })

  rule('later it never serves without the fingerprint, nor once the successor was used', async () => {
    const without = await opened()
    service.clock.advance(31_000)
    expect(outcome(await without.refresh(without.first, HOME))).toBe(401)
    const device = { device_fingerprint: 'a-device-in-use' }
    const used = await opened(device)
    await used.refresh(used.successor, HOME, device)
    expect(outcome(await used.refresh(used.first, HOME, device))).toBe(401)
  })

  raced('of 32 late retries at once no more than two are served', async () => {
    const device = { device_fingerprint: 'a-device-in-a-hurry' }
    const { first, successor, refresh } = await opened(device)
    service.clock.advance(60_000)
    const answers = await Promise.all(Array.from({ length: 32 }, () => refresh(first, THERE, device)))
    expect(answers.map(outcome).filter((one) => one === successor).length).toBeLessThanOrEqual(2)
  })

  test('an account keeps its 100 newest sessions', async () => {
    const person = await service.signUp(newEmail())
    const tokens: string[] = []
    for (let n = 0; n < 102; n++) {
      service.clock.advance(1)
      tokens.push((await service.logIn(person)).refresh_token)
    }
    const bearer = (await service.logIn(person)).access_token
    expect((await service.get('sessions', { bearer })).body.sessions).toHaveLength(100)
    const alive = await Promise.all(
      [0, 2, 3, 101].map((n) => service.post('refresh', { refresh_token: tokens[n] })),
    )
    expect(alive.map(({ status }) => status)).toEqual([401, 401, 200, 200])
  })
})
