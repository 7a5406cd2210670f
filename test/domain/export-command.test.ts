/** `poterne export`: what it writes comes back into an empty service, and opens the same accounts there. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { openSocket } from '../../src/platform/admin-socket.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { asOperator, listening, onListener } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { poterneCommand, runPoterne } from '../helpers/executable.ts'
import made from '../helpers/foreign-digests.json'
import { newDirectory } from '../helpers/run-directory.ts'
import type { TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const OPERATOR = 'operator@example.com'
const settings = { ...listening, passkeys: { rp_id: 'example.com', origins: ['https://auth.example.com'] } }

async function run(service: TestService, directory: string, ...args: string[]) {
  const socket = join(
    directory,
    `${service === undefined ? '' : args[0]}-${crypto.randomUUID().slice(0, 8)}.sock`,
  )
  await openSocket(socket, service.inside.administration.handle)
  return runPoterne([...args, '--socket', socket], { directory })
}

describe('an export', () => {
  const notified = { admin: { ...listening.admin, notify: OPERATOR } }
  const service = useService({ settings: { ...settings, ...notified } })
  const other = useService({ shape: 'embedded', settings })
  const directory = newDirectory('export')
  const exportOf = async (of: TestService, name: string) => {
    const file = join(directory, name)
    const { code, error } = await run(of, directory, 'export', file)
    expect([code, error]).toEqual([0, expect.stringContaining('can open these accounts')])
    return { file, text: readFileSync(file, 'utf8') }
  }

  test('holds every account but registrations that wait, and comes back as it was', async () => {
    const lines = [
      ...made
        .filter((_, index) => index % 8 === 0)
        .map(({ by: _, password: __, trims: ___, ...password }: Record<string, unknown>) => ({
          email: newEmail(),
          email_verified_at: '2020-01-02T03:04:05.678Z',
          password,
        })),
      {
        ...{ email: newEmail(), email_verified_at: true, phone: newPhone(), username: 'ada.l', role_id: 7 },
        ...{ accountable_type: 'Team', accountable_id: 42, groups: ['staff', 'editors'], language: 'fr' },
        ...{ profile: { name: 'Ada', given_name: 'Ada' }, metadata: { b: [1, { c: null }], a: 'é' } },
        ...{ locked_at: '2021-01-01T00:00:00Z', locked_reason: 'a reason', terms_version: '3' },
        ...{ terms_accepted_at: '2021-01-01T00:00:00Z', sign_in_count: 5, totp: { secret: SECRET } },
        ...{ current_sign_in_at: '2022-01-01T00:00:00Z', last_sign_in_at: '2021-12-01T00:00:00Z' },
        ...{ created_at: '2019-01-01T00:00:00Z', account_confirmed_at: '2019-01-02T00:00:00Z' },
        passkeys: ['b', 'a'].map((name) => ({
          ...{ id: `${name}${crypto.randomUUID().replaceAll('-', '')}`, public_key: 'pQECAyYgASFYIA' },
          ...{ user_handle: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', counter: 3, name },
          ...{ created_at: '2022-01-01T00:00:00.123Z', transports: ['usb'], backed_up: false },
        })),
      },
      { email: newEmail(), phone: newPhone(), password: { hash: await Bun.password.hash(PASSWORD) } },
    ]
    const { body } = await asOperator(service, 'POST', 'accounts/import', { records: lines })
    expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
      lines.map(() => 'imported'),
    )
    const registered = newEmail()
    await service.post('register', {
      ...{ email: registered, password: PASSWORD, password_confirmation: PASSWORD },
    })
    const { identifier } = await service.signUp(newEmail())
    const first = await exportOf(service, 'first.jsonl')
    const exported = first.text.trim().split('\n')
    expect(exported).toHaveLength(lines.length + 1)
    expect(first.text).not.toContain(registered)
    expect(statSync(first.file).mode & 0o777).toBe(0o600)
    const imported = await run(other, directory, 'import', first.file, '--json')
    expect([imported.code, JSON.parse(imported.out)]).toMatchObject([0, { imported: exported.length }])
    expect((await exportOf(other, 'second.jsonl')).text).toBe(first.text)
    // A second time into the same service: everybody is there.
    const again = await run(other, directory, 'import', first.file, '--json')
    expect(JSON.parse(again.out)).toMatchObject({ imported: 0, present: exported.length, refused: 0 })
    const login = (typed: unknown, password: string) => other.post('login', { identifier: typed, password })
    expect((await login(identifier, PASSWORD)).status).toBe(200)
    for (const [index, { by, password }] of made.filter((_, index) => index % 8 === 0).entries())
      expect([by, (await login(lines[index]?.email, password)).status]).toEqual([by, 200])
  })

  longTest('carries the app, sealed anew; one that no secret opens is counted and null', async () => {
    const [email, lost] = [newEmail(), newEmail()]
    const line = (address: string) => ({ email: address, email_verified_at: true, totp: { secret: SECRET } })
    const password = { hash: await Bun.password.hash(PASSWORD) }
    const records = [email, lost].map((address) => ({ ...line(address), password }))
    const { body } = await asOperator(service, 'POST', 'accounts/import', { records })
    const damage = statement<Record<string, never>>(sql`
      update totp_factors set sealed_secret = '\\x00' where account_id = (select id from accounts where uuid = ${sql.raw(`'${body.results[1].uuid}'`)})`)
    await service.inside.database.all(damage, {})
    const file = join(directory, 'apps.jsonl')
    const { error } = await run(service, directory, 'export', file)
    expect(error).toContain('1 authenticator app left out')
    const found = (address: string) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((each) => JSON.parse(each))
        .find((each) => each.email === address)
    expect(found(lost)).toMatchObject({ totp: null, two_factor_enabled: true })
    expect(found(email).totp).toEqual({ secret: SECRET })
    expect((await run(other, directory, 'import', file)).code).toBe(0)
    const first = await other.post('login', { identifier: email, password: PASSWORD })
    const { login_token } = first.body.two_factor
    const otp = appCode(SECRET, other.clock.now())
    expect((await other.post('2fa/verify', { identifier: email, login_token, otp })).status).toBe(200)
    const byMail = await other.post('login', { identifier: lost, password: PASSWORD })
    expect([byMail.status, byMail.body.two_factor.methods]).toEqual([202, ['email']])
  })

  test('overwrites no file, and goes to a pipe', async () => {
    const file = join(directory, 'there.jsonl')
    writeFileSync(file, 'precious')
    const { code, error } = await run(service, directory, 'export', file)
    expect([code, error, readFileSync(file, 'utf8')]).toEqual([
      2,
      expect.stringContaining('is there already'),
      'precious',
    ])
    const piped = await run(service, directory, 'export', '-')
    expect(piped.out.trim().split('\n').length).toBeGreaterThan(2)
    expect(JSON.parse(piped.out.split('\n')[0] as string)).toHaveProperty('password.hash')
  })

  test('that cannot be finished says so in one line, and leaves no file', async () => {
    const file = join(directory, 'unfinished.jsonl')
    const socket = join(directory, 'slow.sock')
    const { handle } = service.inside.administration
    await openSocket(socket, async (request) => {
      await Bun.sleep(500)
      return handle(request)
    })
    const started = (wrapper: string[], target: string) =>
      Bun.spawn([...wrapper, ...poterneCommand(), 'export', target, '--socket', socket], {
        ...{ cwd: directory, stdout: 'ignore', stderr: 'pipe' },
      })
    const ended = async (child: ReturnType<typeof started>) => [
      await new Response(child.stderr).text(),
      await child.exited,
      existsSync(file),
    ]
    expect(await ended(started(['prlimit', '--fsize=1000'], file))).toEqual([
      ...[`${file}: nothing is left of it, since it could not be written (EFBIG)\n`, 1, false],
    ])
    expect(await ended(started(['sh', '-c', 'exec "$@" >&-', 'sh'], '-'))).toEqual([
      ...['standard output takes no more: it is closed\n', 1, false],
    ])
    const interrupted = started([], file)
    await waitFor(() => existsSync(file))
    interrupted.kill('SIGINT')
    expect(await ended(interrupted)).toEqual(['interrupted: nothing was changed\n', 130, false])
  })

  test('is the operator’s alone, recorded, and told', async () => {
    const scopes = ['accounts:read', 'accounts:write']
    const { body } = await asOperator(service, 'POST', 'tokens', { name: 'script', scopes, expires_in: '1d' })
    const headers = { authorization: `Bearer ${body.token}` }
    const answer = await onListener(service, 'GET', 'accounts/export', undefined, { headers })
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope'])
    const events = await asOperator(service, 'GET', 'events?type=accounts.exported')
    expect(events.body.items[0].data.count).toBeGreaterThan(3)
    await waitFor(() => service.inbox.textsTo(OPERATOR).some((text) => text.includes('accounts.exported')), {
      what: 'the notice',
    })
  })

  test('comes in pages that miss nobody', async () => {
    const seen: string[] = []
    for (let after: number | null = 0; after !== null; ) {
      const { body } = await asOperator(service, 'GET', `accounts/export?after=${after}&limit=2`)
      seen.push(...body.records.map(({ uuid }: { uuid: string }) => uuid))
      after = body.next_after
    }
    const { body } = await asOperator(service, 'GET', 'accounts/export')
    expect(seen).toEqual(body.records.map(({ uuid }: { uuid: string }) => uuid))
    for (const query of ['limit=0', 'limit=501', 'after=x'])
      expect((await asOperator(service, 'GET', `accounts/export?${query}`)).body.code).toBe(
        'validation_failed',
      )
  })
})
