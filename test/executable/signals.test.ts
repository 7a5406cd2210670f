/**
 * The end of the executable: every request gets an answer. Each test has an executable of its own and waits more than
 * it works, so they run at the same time.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { type Shape, shapes } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** A request whose last byte is sent when told to; the answer is everything that came until the end. */
async function beginRequest({ port }: Executable, body: string) {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (data) => {
    answer += data.toString()
  })
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  const head = [
    'POST /api/v1/auth/register HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
  return {
    finish: () => socket.write(body.slice(-1)),
    async answer() {
      await ended
      return answer
    },
  }
}

async function refuses({ port }: Executable): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

describe.each(reduced<Shape[]>(['embedded'], shapes))('SIGTERM on %s', (shape) => {
  test.concurrent('in mid-request: nothing new is taken, the request is answered, its mail leaves, exit code 0', async () => {
    const service = await startExecutable({ shape })
    const email = newEmail()
    const request = await beginRequest(service, JSON.stringify(registration(email)))
    await Bun.sleep(200)
    const signalledAt = performance.now()
    service.process().signal('SIGTERM')
    await waitFor(() => refuses(service), { what: 'the port to be closed' })
    request.finish()
    const answer = await request.answer()
    expect(answer).toStartWith('HTTP/1.1 201')
    expect(await service.process().exited).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(10_000)
    expect(service.process().stderr()).toBe('')
    expect(service.log().at(-1)?.msg).toBe('ended')
    // The acknowledged registration is there, and its message goes out at the latest with the next start.
    await service.start()
    const otp = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
    expect((await service.post('login', { identifier: email, password: PASSWORD })).status).toBe(200)
    expect(service.smtp.messages).toHaveLength(1)
    await service.close()
  }, 40_000)
})

describe('a mail that is being sent', () => {
  longTest.concurrent('at SIGTERM is sent to its end and noted: it does not come twice', async () => {
    const service = await startExecutable({ shape: 'postgres' })
    const email = newEmail()
    service.smtp.behave({ delayMs: 3000 })
    await service.post('register', registration(email))
    await service.smtp.waitForMailTo(email)
    const signalledAt = performance.now()
    expect(await service.kill('SIGTERM')).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(10_000)
    expect(service.log()).toContainEqual(expect.objectContaining({ msg: 'message', outcome: 'sent' }))
    service.smtp.behave({})
    await service.start()
    await Bun.sleep(500)
    expect(service.smtp.messages).toHaveLength(1)
    await service.close()
  })
})

describe('a request that does not end', () => {
  longTest.concurrent('does not keep the process beyond 10 s', async () => {
    const service = await startExecutable({ shape: 'postgres' })
    await beginRequest(service, JSON.stringify(registration(newEmail())))
    await Bun.sleep(200)
    const signalledAt = performance.now()
    expect(await service.kill('SIGTERM')).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(10_000)
    await service.close()
  })

  test.concurrent('SIGHUP only leaves a line that says when the configuration is read, and an idle connection does not hold up the end', async () => {
    const service = await startExecutable({ shape: 'postgres' })
    service.process().signal('SIGHUP')
    await waitFor(() => service.process().stdout().includes('the configuration is read at the start only'))
    expect((await service.call('GET', '/readyz')).status).toBe(200)
    // The connection of this answer is idle and kept alive: it does not hold up the end.
    const signalledAt = performance.now()
    expect(await service.kill('SIGTERM')).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(3000)
    await service.close()
  })

  longTest.concurrent('a second signal ends the process at once', async () => {
    const service = await startExecutable({ shape: 'postgres' })
    await beginRequest(service, JSON.stringify(registration(newEmail())))
    await Bun.sleep(200)
    service.process().signal('SIGINT')
    await waitFor(() => refuses(service))
    const signalledAt = performance.now()
    expect(await service.kill('SIGTERM')).toBe(1)
    expect(performance.now() - signalledAt).toBeLessThan(3000)
    await service.close()
  })
})
