/** `poterne secret rotate`, `status` and `revoke` on the executable. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail } from '../helpers/api-client.ts'
import { logInWithApp, protectByApp } from '../helpers/authenticator.ts'
import { runExecutable, startExecutable } from '../helpers/executable.ts'
import { createTestClock } from '../helpers/service.ts'
import { longTest, reduced, soaking } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(180_000)

test(`an embedded service rotates its secret and nobody is logged out${reduced('', '; one that leaked is revoked and everybody is')}`, async () => {
  const service = await startExecutable({ shape: 'embedded' })
  const clock = createTestClock()
  const run = (...args: string[]) => runExecutable(['secret', ...args, ...service.configArgs])
  const guarded = await protectByApp({ ...service, clock }, newEmail())
  const person = await service.signUp(newEmail())
  let { refresh_token } = await service.logIn(person)
  const dataDir = service.storage.storage?.data_dir as string
  const [secret, previous] = [join(dataDir, 'secret'), join(dataDir, 'secret.previous')]
  const first = readFileSync(secret, 'utf8')

  const expectRevoked = async () => {
    expect(await run('revoke', '--yes')).toMatchObject({
      code: 1,
      error: expect.stringContaining('in use by another'),
    })
    await service.kill('SIGTERM')
    const revoked = await run('revoke', '--yes')
    expect(revoked.code).toBe(0)
    expect(revoked.error).toContain('"msg":"a signing key opens under no accepted server secret"')
    expect(revoked.out).toContain('3 sessions are ended, 1 authenticator apps')
    expect(existsSync(previous)).toBe(false)
    await service.start()
    expect((await service.post('refresh', { refresh_token })).body.code).toBe('invalid_token')
    expect((await service.get('me', { bearer: guarded.bearer })).body.code).toBe('invalid_token')
    await service.logIn(person)
    const recovery = { ...guarded.person, otp: guarded.recoveryCodes[0] }
    expect((await service.post('2fa/verify', recovery)).status).toBe(200)
  }

  expect(await run('status')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^[\da-f]{8} {2}seals and signs\nNo other secret is accepted\.\n$/),
  })
  expect((await run('rotate')).out).toContain('Restart poterne now')
  expect([readFileSync(previous, 'utf8'), readFileSync(secret, 'utf8') === first]).toEqual([first, false])
  await service.kill('SIGTERM')
  await service.start()
  const refreshed = await service.post('refresh', { refresh_token })
  expect(refreshed.status).toBe(200)
  refresh_token = refreshed.body.refresh_token
  const status = await waitFor(
    async () => {
      const read = JSON.parse((await run('status', '--json')).out)
      return read.previous[0].removable_at !== null && read
    },
    { what: 'every row to be sealed anew' },
  )
  expect(status.previous).toHaveLength(1)
  expect(status.previous[0].rows).toEqual({ signing_keys: 0, authenticator_apps: 0, lasting_keys: 0 })
  expect(Date.parse(status.previous[0].removable_at)).toBeGreaterThan(Date.now())
  expect(status.lost_rows).toBe(0)

  await service.kill('SIGTERM')
  rmSync(previous)
  await service.start()
  clock.advance(30_000)
  await logInWithApp({ ...service, clock }, guarded)
  expect((await service.post('refresh', { refresh_token })).status).toBe(200)

  if (soaking) await expectRevoked()
  await service.close()
})

longTest(
  'a configured secret is not rotated by the command, and is revoked only once it is not accepted any more',
  async () => {
    const service = await startExecutable({ shape: 'postgres' })
    const { refresh_token } = await service.signedIn()
    const run = (args: string[], env: Record<string, string> = {}) =>
      runExecutable(['secret', ...args, ...service.configArgs], { env })
    const rotated = await run(['rotate'])
    expect([rotated.code, rotated.error]).toEqual([2, expect.stringContaining('server.previous_secrets')])
    const accepted = await run(['revoke', '--yes'])
    expect([accepted.code, accepted.error]).toEqual([
      2,
      expect.stringMatching(/^the configured secrets open what is stored: .*set a fresh server\.secret.*\n$/),
    ])
    const fresh = { POTERNE_SERVER_SECRET: (await runExecutable(['secret'])).out.trim() }
    expect((await run(['revoke'], fresh)).error).toContain('Say so with --yes.')
    const revoked = await run(['revoke', '--yes', '--json'], fresh)
    expect([revoked.code, JSON.parse(revoked.out)]).toEqual([0, { revoked: true, sessions: 1, apps: 0 }])
    expect(revoked.error).toContain('"msg":"a signing key opens under no accepted server secret"')
    await service.kill('SIGTERM')
    const refused = await service.start().catch(String)
    expect(refused).toContain('poterne secret revoke')
    const again = await startExecutable({ storage: service.storage, env: fresh })
    expect((await again.post('refresh', { refresh_token })).body.code).toBe('invalid_token')
    await again.close()
    await service.close()
  },
)
