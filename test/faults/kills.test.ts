/**
 * kill -9 under a load of registrations: every acknowledged account is there, its message goes out, and it starts
 * again without a hand. Four kills for each shape, twenty with POTERNE_SOAK=1.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { type Shape, shapes } from '../helpers/service.ts'
import { startSmtp, type TestSmtp } from '../helpers/smtp.ts'
import { reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

const KILLS = reduced(4, 20)
/** Messages of a channel that a worker has under way at once: so many may go out twice, for each kill. */
const UNDER_WAY = 8

setDefaultTimeout(reduced(150_000, 600_000))

interface Outcome {
  acknowledged: string[]
  /** Codes that had come before a kill and were used after it. */
  confirmed: number
  restarts: number[]
  smtp: TestSmtp
  service: Executable
}

/** Registers one after the other, until the process is gone. */
async function registerUntilGone(service: Executable, acknowledged: string[]): Promise<void> {
  for (;;) {
    const email = newEmail()
    try {
      const { status, body } = await service.post('register', registration(email))
      if (status !== 201) throw new Error(`register answered ${status} ${body.code}`)
      acknowledged.push(email)
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('register answered')) throw error
      return
    }
  }
}

async function killAndStart(shape: Shape): Promise<Outcome> {
  const smtp = await startSmtp({ security: 'none', auth: null })
  const service = await startExecutable({ shape, smtp })
  const acknowledged: string[] = []
  const restarts: number[] = []
  let confirmed = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const email = newEmail()
    expect((await service.post('register', registration(email))).status).toBe(201)
    const otp = await service.inbox.nextCode(email)
    const load = Promise.all(Array.from({ length: 4 }, () => registerUntilGone(service, acknowledged)))
    const before = acknowledged.length
    await waitFor(() => acknowledged.length > before + 2, { what: 'a load', timeoutMs: 30_000 })
    await Bun.sleep(Math.random() * 400)
    expect(await service.kill('SIGKILL')).toBe(137)
    await load
    await service.start()
    restarts.push(service.startedInMs())
    const answer = await service.post('verify-account', { identifier: email, otp })
    expect([answer.status, answer.body.code]).toEqual([201, undefined])
    confirmed++
  }
  return { acknowledged, confirmed, restarts, smtp, service }
}

/** All at once: what they wait for most is the end of the leases that the killed ones held. */
const runs = new Map<Shape, Promise<Outcome>>()
beforeAll(() => {
  for (const shape of shapes) runs.set(shape, killAndStart(shape))
})
afterAll(async () => {
  for (const run of runs.values()) {
    const { service, smtp } = await run
    await service.close()
    await smtp.stop()
  }
})

describe.each(shapes)('kill -9 on %s', (shape) => {
  test('loses no acknowledged account, no message and no code', async () => {
    const { acknowledged, confirmed, restarts, smtp, service } = (await runs.get(shape)) as Outcome
    expect(confirmed).toBe(KILLS)
    expect(acknowledged.length).toBeGreaterThan(KILLS)
    const mailsTo = new Map<string, number>()
    await waitFor(
      () => {
        mailsTo.clear()
        for (const { envelope } of smtp.messages)
          for (const to of envelope.to) mailsTo.set(to, (mailsTo.get(to) ?? 0) + 1)
        return acknowledged.every((email) => mailsTo.has(email))
      },
      { what: 'the mail of every acknowledged account', timeoutMs: 90_000, intervalMs: 200 },
    )
    const twice = [...mailsTo.values()].filter((count) => count > 1)
    console.log(
      `${shape}: ${KILLS} kills, ${acknowledged.length} acknowledged, ${twice.length} mails twice, ` +
        `longest restart ${Math.round(Math.max(...restarts))} ms`,
    )
    expect(twice.length).toBeLessThanOrEqual(KILLS * UNDER_WAY)
    expect(Math.max(1, ...twice)).toBeLessThanOrEqual(2)
    for (const email of acknowledged) {
      const { body } = await service.post('login', { identifier: email, password: PASSWORD })
      expect(body.code).toBe('account_unconfirmed')
    }
  })
})
