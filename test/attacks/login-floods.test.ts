/** More logins at once than can be hashed, on the executable. It measures, so that it runs alone. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, newEmail } from '../helpers/api-client.ts'
import { startExecutable } from '../helpers/executable.ts'
import { measured } from '../helpers/timing.ts'

setDefaultTimeout(120_000)

const MEGABYTE = 1024 * 1024

/** For a second and a half, ten times as many logins as can be hashed, as the clock says: the p99 of those refused. */
async function slowestRefusal(login: () => Promise<Answer>): Promise<number> {
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: 16 }, login))
  const perMs = 160 / (performance.now() - startedAt)
  const refusedMs: number[] = []
  const timed = async () => {
    const askedAt = performance.now()
    if ((await login()).status === 503) refusedMs.push(performance.now() - askedAt)
  }
  const asked: Promise<void>[] = []
  const floodedAt = performance.now()
  for (let ms = 0; ms < 1500; ms = performance.now() - floodedAt) {
    while (asked.length < ms * perMs) asked.push(timed())
    await Bun.sleep(1)
  }
  await Promise.all(asked)
  expect(refusedMs.length).toBeGreaterThan(30)
  return refusedMs.toSorted((a, b) => a - b)[Math.floor(refusedMs.length * 0.99)]!
}

test('a flood of logins stays bounded: refused ones at once, other routes answered, memory kept', async () => {
  const flooded = await startExecutable({
    settings: { password: { memory_kib: 19_456, iterations: 2 } },
  })
  try {
    const login = () => flooded.post('login', { identifier: newEmail(), password: 'a wrong password' })
    await Promise.all(Array.from({ length: 8 }, login))
    const idle = flooded.memory()
    const statuses: number[] = []
    const others: number[] = []
    const until = Date.now() + 2500
    const attackers = Array.from({ length: 400 }, async () => {
      while (Date.now() < until) statuses.push((await login()).status)
    })
    const bystander = async () => {
      while (Date.now() < until) {
        const startedAt = performance.now()
        expect((await fetch(`${flooded.url}/.well-known/jwks.json`)).status).toBe(200)
        others.push(performance.now() - startedAt)
        await Bun.sleep(20)
      }
    }
    await Promise.all([...attackers, bystander()])
    expect([401, 503]).toEqual(expect.arrayContaining(statuses))
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(statuses.length / 2)
    expect(others.length).toBeGreaterThan(5)
    expect(others.toSorted((a, b) => a - b)[Math.floor(others.length * 0.9)]).toBeLessThan(1500)
    // The promise is 50 ms, on a machine that does nothing else.
    const p99 = await measured(
      () => slowestRefusal(login),
      (ms) => ms < 100,
    )
    expect(p99).toBeLessThan(100)
    expect(flooded.memory() - idle).toBeLessThan(150 * MEGABYTE)
    expect((await login()).status).toBe(401)
  } finally {
    await flooded.close()
  }
})
