/** HTTP as attackers speak it, to the executable: slow, endless, contradictory, in crowds. It answers the others. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { decodeJwt } from 'jose'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { bodiesOf, sendRaw, statusesOf } from '../helpers/raw-http.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const LOGIN = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const MEGABYTE = 1024 * 1024

let poterne: Executable
/** They take fifteen seconds, beside the other tests. */
let slowRequests: Promise<Spoken[]>
beforeAll(async () => {
  poterne = await startExecutable({
    settings: { server: { base_url: 'https://auth.example.com' } },
    measures: true,
  })
  slowRequests = speakSlowly()
})
afterAll(() => poterne?.close())

const isServing = async () => {
  const startedAt = performance.now()
  const response = await fetch(`${poterne.url}/healthz`, { signal: AbortSignal.timeout(5000) })
  expect(response.status).toBe(200)
  return performance.now() - startedAt
}

interface Spoken {
  /** The body of the answer. */
  text: string
  /** The service ended the connection after so long. */
  seconds: number
}

function speak(first: string, drip = '', everyMs = 1000): Promise<Spoken> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const socket = connect(poterne.port, '127.0.0.1')
    let text = ''
    const timer = setInterval(() => drip && socket.write(drip), everyMs)
    const end = () => {
      clearInterval(timer)
      clearTimeout(patience)
      socket.destroy()
      resolve({ text, seconds: (performance.now() - startedAt) / 1000 })
    }
    const patience = setTimeout(end, 40_000)
    socket.on('data', (data) => {
      text += data
    })
    socket.on('error', () => {})
    socket.on('close', end)
    socket.on('connect', () => socket.write(first))
  })
}

const speakSlowly = () =>
  Promise.all([
    speak(''),
    speak(`${LOGIN}X-Slow: `),
    speak(`${LOGIN}X-Slow: `, 'a'),
    speak(LOGIN, 'X-Slow: a\r\n', 3000),
    speak(`${LOGIN}${JSON_TYPE}Content-Length: 100\r\n\r\n{`),
    speak(`${LOGIN}${JSON_TYPE}Content-Length: 100\r\n\r\n{`, ' '),
    speak(`${LOGIN}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'),
  ])

/** More files, sockets among them, than a process here has open beside the crowd. */
const OTHER_FILES = 500

/** Connections this process may hold. */
function mayHold(pid: number): number {
  const [, files] = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))!
  return Number(files) - OTHER_FILES
}

/** Opens as many connections as asked for, and writes the text on each; those that could not be made are left out. */
async function crowd(count: number, text: string): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let made = 0; made < count; made += 250) {
    const batch = Array.from({ length: Math.min(250, count - made) }, () => {
      const socket = connect(poterne.port, '127.0.0.1')
      sockets.push(socket)
      return new Promise<void>((resolve) => {
        socket.on('error', () => resolve())
        socket.once('connect', () => {
          if (text !== '') socket.write(text)
          resolve()
        })
      })
    })
    await Promise.all(batch)
  }
  return sockets.filter(({ readyState }) => readyState === 'open')
}

test.each([
  ['that say nothing', ''],
  ['with half a request each', LOGIN],
])('10,000 connections %s do not keep the others from being answered', async (_name, text) => {
  const { pid } = poterne.process()
  const openFiles = () => readdirSync(`/proc/${pid}/fd`).length
  await waitFor(() => openFiles() < OTHER_FILES, { what: 'the crowd before to be gone', timeoutMs: 60_000 })
  const before = poterne.memory()
  // Fewer where this machine does not allow a process so many.
  const count = Math.min(10_000, mayHold(process.pid), mayHold(pid))
  const sockets = await crowd(count, text)
  try {
    expect(sockets).toHaveLength(count)
    // A connection is open to its maker before the service has seen it.
    await waitFor(() => openFiles() >= count, { what: `the service to hold ${count} connections` })
    const waits: number[] = []
    for (let i = 0; i < 50; i++) waits.push(await isServing())
    expect(waits.toSorted((a, b) => a - b)[45]).toBeLessThan(500)
    expect((await poterne.post('login', { identifier: newEmail(), password: PASSWORD })).status).toBe(401)
    expect(poterne.memory() - before).toBeLessThan(150 * MEGABYTE)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  await isServing()
})

describe('what is too much, or says two things, is refused and harms nobody', () => {
  const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'

  test.each([
    ['a header of 64 KB', `${LOGIN}X-Long: ${'a'.repeat(65_536)}\r\n\r\n`],
    ['10,000 headers', `${LOGIN}${'X-A: b\r\n'.repeat(10_000)}\r\n`],
    ['a path of 64 KB', `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['an endless header name', `${LOGIN}${'a'.repeat(300_000)}`],
  ])('%s', async (_name, text) => {
    const answer = await sendRaw(poterne.port, [text])
    expect(statusesOf(answer).filter((status) => status < 400)).toEqual([])
    await isServing()
  })

  test.each([
    ['two content lengths', `${LOGIN}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${next}`],
    ['the same one twice, in a list', `${LOGIN}${JSON_TYPE}Content-Length: 2, 2\r\n\r\n{}${next}`],
    [
      'a length and chunks',
      `${LOGIN}${JSON_TYPE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
    ],
    ['chunks spelled otherwise', `${LOGIN}${JSON_TYPE}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${next}`],
    ['a negative length', `${LOGIN}${JSON_TYPE}Content-Length: -1\r\n\r\n{}`],
    ['a length that is none', `${LOGIN}${JSON_TYPE}Content-Length: 2e3\r\n\r\n{}`],
    [
      'a chunk of 2^64 bytes',
      `${LOGIN}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}`,
    ],
    ['a chunk whose size is no number', `${LOGIN}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`],
    ['a space before the colon', `${LOGIN}Content-Length : 2\r\n\r\n{}${next}`],
    ['a folded header', `${LOGIN}X-A: b\r\n c\r\n\r\n`],
  ])('%s: no answer to a request that was smuggled', async (_name, text) => {
    const answer = await sendRaw(poterne.port, [text])
    expect(statusesOf(answer).filter((status) => status < 400)).toEqual([])
    expect(statusesOf(answer).length).toBeLessThanOrEqual(1)
    await isServing()
  })

  test.each([
    ['declared', `Content-Length: ${64 * MEGABYTE}\r\n\r\n`, 'a'.repeat(65_536)],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', `10000\r\n${'a'.repeat(65_536)}\r\n`],
    ['in chunks of one byte', 'Transfer-Encoding: chunked\r\n\r\n', '1\r\na\r\n'.repeat(10_000)],
  ])('a body of many megabytes, %s, is 413 and never kept', async (_name, head, part) => {
    const before = poterne.memory()
    const answer = await sendRaw(poterne.port, [
      `${LOGIN}${JSON_TYPE}${head}`,
      ...Array<string>(64).fill(part),
    ])
    expect(statusesOf(answer)).toEqual([413])
    expect(bodiesOf(answer)[0]?.code).toBe('body_too_large')
    expect(poterne.memory() - before).toBeLessThan(100 * MEGABYTE)
    await isServing()
  })
})

describe('who it says it is comes from base_url', () => {
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-server': 'evil.example',
    forwarded: 'host=evil.example;proto=http',
    'x-original-url': '/dev/mailbox',
    'x-rewrite-url': '/dev/mailbox',
    'x-host': 'evil.example',
  }
  const evil = { headers }

  test('in tokens, messages, documents and answers, whatever Host and X-Forwarded-Host say', async () => {
    const phone = newPhone()
    const email = newEmail()
    const answers = [
      await poterne.post('register', registration(phone), evil),
      await poterne.post('register', registration(email), evil),
      await poterne.post(
        'verify-account',
        { identifier: phone, otp: await poterne.inbox.nextCode(phone) },
        evil,
      ),
      await poterne.post('login', { identifier: phone, password: PASSWORD }, evil),
      await poterne.call('GET', '/swagger/json', undefined, evil),
      await poterne.call('GET', '/.well-known/jwks.json', undefined, evil),
      await poterne.call('GET', '/nowhere', undefined, evil),
    ]
    await poterne.inbox.nextCode(email)
    for (const { headers, body } of answers) {
      expect(JSON.stringify([...headers]) + JSON.stringify(body)).not.toContain('evil')
    }
    const { iss, aud } = decodeJwt(answers[3]!.body.access_token)
    expect([iss, aud]).toEqual(['https://auth.example.com', 'https://auth.example.com'])
    expect(poterne.inbox.textsTo(phone).join()).not.toContain('evil')
    const mail = poterne.smtp.messages.find(({ envelope }) => envelope.to.includes(email))
    expect(mail?.raw).not.toContain('evil')
    expect(mail?.headers['message-id']).toEndWith('@auth.example.com>')
  })

  test('and headers that name another method or path change nothing', async () => {
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      const options = { headers: { ...headers, [name]: 'POST' } }
      expect((await poterne.call('GET', '/api/v1/auth/login', undefined, options)).status).toBe(405)
      const deleted = await poterne.post(
        'login?_method=DELETE',
        { _method: 'DELETE' },
        { headers: { [name]: 'DELETE' } },
      )
      expect(deleted.status).toBe(422)
    }
    expect((await poterne.call('GET', '/dev/mailbox.json')).status).toBe(404)
  })
})

test('slow requests end: headers and idle connections within 15 s without, bodies after 15 s with an answer', async () => {
  const [silent, half, drippedName, drippedLines, ...bodies] = await slowRequests
  for (const { text, seconds } of [silent!, half!, drippedName!, drippedLines!]) {
    expect(text).toBe('')
    expect(seconds).toBeLessThan(17)
  }
  for (const { text, seconds } of bodies) {
    expect(statusesOf({ text, closed: true })).toEqual([400])
    expect(bodiesOf({ text, closed: true })[0]?.code).toBe('malformed_json')
    expect(seconds).toBeGreaterThan(14)
    expect(seconds).toBeLessThan(19)
  }
  await isServing()
})
