/**
 * Moving by backup and restore, as docs/operations.md tells it: from the embedded database to a server and back, and nobody is
 * signed out.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { newEmail } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { type Executable, runExecutable, startExecutable } from '../helpers/executable.ts'
import { newFastDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { createTestClock } from '../helpers/service.ts'

setDefaultTimeout(180_000)

const trusting = { two_factor: { trust_device: '30d' } }

async function succeed(args: string[]) {
  const { code, error, out } = await runExecutable(args)
  expect([error, code]).toEqual(['', 0])
  return out
}

/** Gives an account an app, a username, a group and a trusted device, makes an invitation, and gives the check of all. */
async function carryAlong(service: Executable, other: { identifier: string; password: string }) {
  const cy = await protectByApp({ ...service, clock: createTestClock() }, newEmail())
  const named = ['accounts', 'set', cy.person.identifier, '--username', 'cy', '--group', 'staff']
  await succeed([...named, ...service.configArgs])
  const inviting = ['invitations', 'create', '--group', 'beta', '--uses', '5', '--json']
  const { code } = JSON.parse(await succeed([...inviting, ...service.configArgs]))
  const device = { device_fingerprint: 'laptop-fingerprint' }
  const otp = appCode(cy.secret, new Date(), 1)
  const { body } = await service.post('2fa/verify', { ...cy.person, otp, trust_device: true, ...device })
  return async (on: Executable) => {
    const { device_token } = body
    const trusted = await on.post('login', { ...cy.person, ...device, device_token })
    expect(trusted.status).toBe(200)
    const me = await on.get('me', { bearer: trusted.body.access_token })
    expect(me.body).toMatchObject({ username: 'cy', groups: ['staff'] })
    const { access_token: bearer } = await on.logIn(other)
    const joined = await on.post('invitations/accept', { invitation: code }, { bearer })
    expect([joined.status, joined.body.groups]).toEqual([200, ['beta']])
  }
}

test('the data moves to a server and back, and nobody is signed out', async () => {
  const directory = newFastDirectory('move')
  const file = (name: string, content: string) => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const embedded = await startExecutable({ shape: 'embedded', settings: trusting })
  const started: Executable[] = [embedded]
  try {
    const ada = await embedded.signUp(newEmail())
    let { refresh_token } = await embedded.logIn(ada)
    const carries = await carryAlong(embedded, ada)
    const expectSignedIn = async (on: Executable) => {
      const answer = await on.post('refresh', { refresh_token })
      expect(answer.status).toBe(200)
      refresh_token = answer.body.refresh_token
      await carries(on)
    }

    await embedded.kill('SIGTERM')
    const sealed = ['--passphrase-file', file('passphrase', 'a passphrase of some length\n')]
    const there = join(directory, 'there.backup')
    const made = await runExecutable(['backup', '-', '--with-secret', ...sealed, ...embedded.configArgs], {
      wrapper: ['sh', '-c', `exec "$0" "$@" > '${there}'`],
    })
    expect([made.code, made.error]).toEqual([0, expect.stringContaining('standard output: ')])
    const secret = readFileSync(join(embedded.storage.storage!.data_dir as string, 'secret'), 'utf8').trim()
    const { url } = await createDatabase({ migrated: false })
    const onServer = { server: { secret }, database: { url } }
    const restoring = ['--keep-sessions', '--config']
    await succeed(['restore', there, ...sealed, ...restoring, file('server.toml', stringify(onServer))])
    const server = await startExecutable({ shape: 'postgres', storage: onServer, settings: trusting })
    started.push(server)
    await expectSignedIn(server)

    await server.kill('SIGTERM')
    const back = join(directory, 'back.backup')
    await succeed(['backup', back, ...server.configArgs])
    const atHome = { server: { secret }, storage: { data_dir: join(directory, 'data') } }
    await succeed(['restore', back, ...restoring, file('home.toml', stringify(atHome))])
    const home = await startExecutable({ shape: 'embedded', storage: atHome, settings: trusting })
    started.push(home)
    await expectSignedIn(home)
    expect(await home.logIn(ada)).toMatchObject({ status: 200 })
  } finally {
    for (const each of started) await each.close()
  }
})
