/** The receivers of docs/receivers: each takes what is signed, once, and nothing else. */
import { describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { type SignedCall, sendSigned, signaturesOf } from '../../src/platform/signed-request.ts'
import { freePort } from '../helpers/free-port.ts'
import { endProcesses } from '../helpers/processes.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { waitFor } from '../helpers/wait.ts'
import { newHookSecret } from '../helpers/webhook-receiver.ts'

const folder = join(import.meta.dir, '../../docs/receivers')
const receivers: Record<string, string[]> = {
  'receiver.mjs': ['node', 'receiver.mjs'],
  'receiver.py': ['/usr/bin/python3', 'receiver.py'],
  'receiver.go': ['go', 'run', 'receiver.go'],
  'receiver.php': ['php', '-S', '127.0.0.1:$PORT', 'receiver.php'],
  'receiver.pl': ['perl', 'receiver.pl'],
}

/** Gives the head of the answer. */
function ask(port: number, signed: { id: string; timestamp: string; signature: string }, body: string) {
  const head = Object.entries(signed).map(([name, value]) => `webhook-${name}: ${value}\r\n`)
  return new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', (data) => resolve(data.toString())).once('close', () => resolve('nothing'))
    socket.on('error', () => {})
    const text = `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${head.join('')}\r\n${body}`
    socket.end(Buffer.from(text, 'latin1'))
  })
}

/** A program that sends this and is gone before it is answered. */
function goAway(port: number, text: string) {
  return new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, () => socket.resetAndDestroy()))
    socket.on('error', () => {}).once('close', () => resolve())
  })
}

test('each file of the folder is tried', async () => {
  const files = [...new Bun.Glob('*').scanSync(folder)]
  expect(files.map((file) => basename(file)).sort()).toEqual(Object.keys(receivers).sort())
})

describe.each(Object.entries(receivers))('%s', (file, command) => {
  test('takes what is signed, once, and nothing else', async () => {
    const directory = newDirectory('receiver')
    copyFileSync(join(folder, file), join(directory, file))
    const port = await freePort()
    const secret = newHookSecret()
    const child = Bun.spawn(
      command.map((word) => word.replace('$PORT', String(port))),
      {
        cwd: directory,
        env: {
          ...{ PATH: process.env.PATH ?? '', HOME: directory, GOCACHE: '/tmp/go-build-of-poterne' },
          ...{ PORT: String(port), APP_HOOK_SECRET: secret, STORE: join(directory, 'store.json') },
        },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    const call: SignedCall = { url: `http://127.0.0.1:${port}/`, secret, previousSecrets: [] }
    const account = crypto.randomUUID()
    const send = async (type: string, state: object | null, with_: Partial<SignedCall> = {}) => {
      const data = { id: 1, type, account, data: {}, account_state: state }
      const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data })
      const outcome = await sendSigned(
        { ...call, ...with_ },
        {
          ...{ id: `evt_${type}`, body, timeoutMs: 5000, signal: new AbortController().signal },
        },
      )
      return outcome.accepted ? 'accepted' : outcome.reason
    }
    const state = { uuid: account, email: 'ada@example.com' }
    await waitFor(async () => (await send('account.created', state)) === 'accepted', { timeoutMs: 60_000 })
    expect(await send('account.created', state)).toBe('accepted')
    // While the secret changes, the old one signs too.
    const changing = { secret: newHookSecret(), previousSecrets: [secret] }
    expect(await send('account.updated', state, changing)).toBe('accepted')
    expect(await send('account.locked', state, { secret: newHookSecret() })).toBe('http_401')
    expect(await send('account.erased', null)).toBe('accepted')
    // What is signed, and old or of a clock that is ahead: somebody sends it again.
    for (const ageSeconds of [310, -310]) {
      const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
      const body = JSON.stringify({ type: 'account.locked', data: { account, account_state: state } })
      const signature = signaturesOf(call, `evt_1.${timestamp}.${body}`)
      expect(await ask(port, { id: 'evt_1', timestamp, signature }, body)).toContain(' 401 ')
    }
    // Strangers end nothing: not by a signature as long as a right one, nor by going away.
    const now = String(Math.floor(Date.now() / 1000))
    expect(
      await ask(port, { id: 'evt_1', timestamp: now, signature: `v1,${'é'.repeat(44)}` }, '{}'),
    ).toContain(' 401 ')
    for (const length of [2, 100, -5])
      await goAway(port, `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n{}`)
    expect(await send('account.unlocked', state)).toBe('accepted')
    await endProcesses(directory, 5000)
    const lines = (await said).join('')
    for (const type of ['account.created', 'account.updated', 'account.erased', 'account.unlocked'])
      expect(lines.split(`${type} ${account}`)).toHaveLength(2)
    expect(lines).not.toContain('account.locked')
  }, 120_000)
})
