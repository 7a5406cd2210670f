/** A body that is too large is refused before it is gathered: the process does not grow with what strangers send. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { bodiesOf, sendRaw, statusesOf } from '../helpers/raw-http.ts'

setDefaultTimeout(60_000)

let poterne: Executable
beforeAll(async () => {
  poterne = await startExecutable({ measures: true })
})
afterAll(() => poterne?.close())

test('eight bodies of 100 MB at once are refused in shape and take less memory than one of them', async () => {
  const piece = new Uint8Array(1 << 20).fill(0x61)
  const head =
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${100 << 20}\r\n\r\n`
  const before = poterne.memory()
  const eight = (parts: (string | Uint8Array)[]) =>
    Array.from({ length: 8 }, () => sendRaw(poterne.port, parts))
  const [listening, sending] = await Promise.all([
    Promise.all(eight([head])),
    Promise.all(eight([head, ...Array<Uint8Array>(100).fill(piece)])),
  ])
  for (const answer of listening) {
    expect(statusesOf(answer)).toEqual([413])
    expect(bodiesOf(answer)[0]?.code).toBe('body_too_large')
  }
  // The connection is closed with the answer. Who then writes before reading may lose it, as TCP has it.
  for (const answer of sending) if (answer.text !== '') expect(statusesOf(answer)).toEqual([413])
  expect(poterne.memory() - before).toBeLessThan(100 << 20)
})
