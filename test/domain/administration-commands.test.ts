/** `poterne accounts`, `sessions` and `events`: over a socket, and on the database where no service runs. */
import { describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { scopes } from '../../src/administration/access/access.ts'
import { openSocket } from '../../src/platform/admin-socket.ts'
import { nameOfUser as userNameOf } from '../../src/platform/data-directory.ts'
import { newEmail } from '../helpers/api-client.ts'
import { commandLines, everyCommand } from '../helpers/command-lines.ts'
import { poterneCommand, runPoterne } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { runHere } from '../helpers/run-here.ts'
import { type Settings, type TestService, writeSettings } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'
import { newHookSecret, webhookSettings } from '../helpers/webhook-receiver.ts'

const env = { USER: 'ada-the-operator' }
const run = (args: string[], directory: string) => runPoterne(args, { directory, env })

/** A service that was killed leaves a socket so. */
function leaveSocket(path: string): void {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  Bun.spawnSync([process.execPath, '-e', script])
  expect(statSync(path).isSocket()).toBe(true)
}

/** The reason where it cannot, else null. */
async function listenAt(service: TestService, path: string): Promise<string | null> {
  const opened = await openSocket(path, service.inside.administration.handle)
  return 'refused' in opened ? opened.refused : null
}

describe('over the socket of a service with the embedded database', () => {
  const webhook = { name: 'app', url: 'http://127.0.0.1:1/', secret: newHookSecret(), events: ['backup.*'] }
  const settings = { roles: { 7: 'editor' }, ...webhookSettings(webhook) }
  const service = useService({ shape: 'embedded', settings })
  const directory = newDirectory('socket')
  const socket = join(directory, 'a.sock')
  /** What a command says and does; executable/empty-folder.test.ts starts every one of them as a process. */
  const over = (...args: string[]) => runHere([...args, '--socket', socket], env)
  const overByProcess = (...args: string[]) => run([...args, '--socket', socket], directory)

  test('the commands need no configuration, and only the owner may open the socket', async () => {
    leaveSocket(socket)
    expect(await listenAt(service, socket)).toBeNull()
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(await listenAt(service, socket)).toBe('another service answers there')
    const { person, account } = await service.signedIn()
    const shown = await overByProcess('accounts', 'show', person.identifier, '--json')
    expect([shown.code, JSON.parse(shown.out).uuid]).toEqual([0, account.uuid])
    const locked = await overByProcess('accounts', 'lock', account.uuid, '--reason', 'chargeback')
    expect([locked.code, locked.out]).toEqual([0, `${person.identifier} is locked\n`])
    expect((await service.post('login', person)).body.code).toBe('account_locked')
    expect((await overByProcess('accounts', 'unlock', account.uuid)).out).toBe(
      `${person.identifier} is unlocked\n`,
    )
    const { out } = await overByProcess(
      'events',
      'list',
      '--account',
      person.identifier,
      '--type',
      'account.locked',
      '--json',
    )
    expect(JSON.parse(out)[0].actor).toEqual({
      type: 'operator',
      id: 'ada-the-operator',
      name: 'ada-the-operator',
    })
    const keys = await overByProcess('keys', 'list', '--json')
    expect(JSON.parse(keys.out)).toHaveLength(1)
  })

  test('the socket takes the place of no file and no link', async () => {
    const [file, link] = [join(directory, 'file'), join(directory, 'link')]
    writeFileSync(file, 'precious')
    symlinkSync(file, link)
    for (const path of [file, link])
      expect(await listenAt(service, path)).toBe('something else than a socket has this name')
    expect([readFileSync(file, 'utf8'), readlinkSync(link)]).toEqual(['precious', file])
  })

  test('a service that names something else as its copy makes backup remove nothing', async () => {
    const precious = join(directory, 'precious')
    const link = join(directory, `snapshot-${crypto.randomUUID()}`)
    mkdirSync(precious)
    writeFileSync(join(precious, 'file'), 'precious')
    symlinkSync(precious, link)
    let named = precious
    const fake = join(directory, 'fake.sock')
    const server = Bun.serve({
      unix: fake,
      fetch: () => Response.json({ status: 200, directory: named, refused: null }),
    })
    const passphraseFile = join(directory, 'passphrase')
    writeFileSync(passphraseFile, 'a passphrase of some length')
    const words = ['backup', 'x.backup', '--passphrase-file', passphraseFile, '--socket', fake]
    for (named of [precious, link, `${link}/`]) {
      const { code, error } = await run(words, directory)
      expect([code, error]).toEqual([
        1,
        'the service that answers names a directory that is no copy of a database\n',
      ])
    }
    await server.stop(true)
    expect(readFileSync(join(link, 'file'), 'utf8')).toBe('precious')
  }, 60_000)

  test('a refusal names what is allowed, and so does the help', async () => {
    for (const [words, sentence] of [
      [
        ['tokens', 'create', '--name', 'x', '--scopes', 'accounts:read,all'],
        /^each of --scopes must be accounts:read, .*, invitations:write or tokens:write, not all\n$/,
      ],
      [
        ['messages', 'list', '--state', 'gone'],
        /^--state must be waiting, sent, delivered, unknown, refused or expired, not gone\n$/,
      ],
      [['messages', 'list', '--channel', 'fax'], /^--channel must be email, sms or application, not fax\n$/],
      [['messages', 'list', '--account', 'a@b.co', '--to', 'b'], /^name the person by --account or by --to/],
      [
        ['accounts', 'list', 'da'],
        /^a search is an e-mail address, .*, an id, or any three characters of .*, not da\n$/,
      ],
    ] as const) {
      const { code, error } = await over(...words)
      expect([code, error]).toEqual([2, expect.stringMatching(sentence)])
    }
    const nearly = await over('accounts', 'list', '--role', 'editr')
    expect([nearly.code, nearly.error]).toEqual([
      1,
      expect.stringContaining('There is no role of this name; the nearest is editor.'),
    ])
    const { out } = await run(['tokens', 'create', '--help'], directory)
    for (const scope of scopes) expect(out).toContain(scope)
  }, 60_000)

  test('who runs a command is known by name, or by number', async () => {
    const of = async (wrapper: string[], env: Record<string, string>) => {
      const args = ['keys', 'rotate', '--socket', socket]
      const child = Bun.spawn([...wrapper, ...poterneCommand(), ...args], {
        cwd: directory,
        env: { PATH: process.env.PATH ?? '', ...env },
        stdout: 'ignore',
      })
      expect(await child.exited).toBe(0)
      const { out } = await over('events', 'list', '--type', 'key.rotated', '--limit', '1', '--json')
      return JSON.parse(out)[0].actor.name
    }
    expect(await of([], { USER: 'grace' })).toBe('grace')
    expect(await of([], { USER: 'root', SUDO_USER: 'ada' })).toBe('ada')
    expect(await of([], {})).toBe(userNameOf(process.geteuid?.() ?? 0))
  })

  test('every command takes --json and prints JSON, or a line of it for each event, and takes --yes', async () => {
    for (const { name, command } of await everyCommand())
      expect([name, command.options.map(({ long }) => long)]).toEqual([
        name,
        expect.arrayContaining(['--json', '--yes']),
      ])
    const person = await service.signUp(newEmail())
    await service.logIn(person)
    const { out } = await over('tokens', 'create', '--name', 'x', '--scopes', 'accounts:read', '--json')
    const place = {
      ...{ account: person.identifier, token: JSON.parse(out).id, message: '1', session: '', directory },
    }
    // Commands about another place, and those that end in a refusal here.
    const elsewhere =
      /^(restore|move|upgrade|migrate|backup|doctor|secret r|health|events follow|gateways|mail|config check)/
    const refused = [
      'messages retry',
      'keys revoke',
      'invitations revoke',
      'accounts invite',
      // It is confirmed.
      'accounts resend-confirmation',
      'accounts remove-two-factor',
      'accounts undo-contact',
      // There is no application.
      'apps show',
      // Nothing listens there.
      'webhooks try',
    ]
    for (const [name, { args }] of Object.entries(commandLines)) {
      if (elsewhere.test(name) || refused.includes(name)) continue
      // The import reads standard input, which is that of the tests.
      const isLocal = commandLines[name]?.needs !== 'database'
      const call = name === 'import' ? overByProcess : over
      const words = [...name.split(' '), ...args(place), '--json', '--yes']
      const ran = isLocal ? await run(words, directory) : await call(...words)
      expect([name, ran.code, ran.error]).toEqual([name, 0, ''])
      expect(() => JSON.parse(ran.out)).not.toThrow()
    }
  }, 180_000)

  test('events are followed as they happen, and printed for log collectors', async () => {
    const person = await service.signUp(newEmail())
    const follower = Bun.spawn(
      [...poterneCommand(), 'events', 'follow', '--after', '0', '--json', '--socket', socket],
      { cwd: directory, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    )
    const lines = follower.stdout.pipeThrough(new TextDecoderStream()).getReader()
    const next = async () => {
      const { value, done } = await lines.read()
      if (done) throw new Error(await new Response(follower.stderr).text())
      return value
    }
    let seen = await next()
    await service.logIn(person)
    while (!seen.includes('login.succeeded')) seen += await next()
    follower.kill()
    const printed = seen
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(printed.map(({ id }) => id)).toEqual([...printed.keys()].map((index) => index + printed[0].id))
    const ocsf = await over('events', 'list', '--format', 'ocsf', '--type', 'login.succeeded')
    const [line = ''] = ocsf.out.split('\n')
    expect(JSON.parse(line)).toMatchObject({ class_uid: 3002, type_uid: 300201, status_id: 1 })
    expect((await over('events', 'list', '--format', 'xml')).code).toBe(2)
    for (const each of ['list', 'follow']) {
      const { code, error } = await over('events', each, '--type', 'account.lock')
      expect([code, error]).toEqual([
        2,
        '--type: there is no event account.lock; did you mean account.locked?\n',
      ])
      expect((await over('events', each, '--type', 'fax')).error).toBe(
        '--type: there is no event fax; docs/events.md lists them\n',
      )
    }
  })

  test('messages, limits, a copy of the data and two factors have their commands', async () => {
    const { identifier } = await service.signUp(newEmail())
    await service.delivered()
    const [messages, lifted, copy, unasked, none] = await Promise.all([
      over('messages', 'list', '--account', identifier),
      over('limits', 'lift', identifier),
      over('accounts', 'export', identifier),
      over('accounts', 'remove-two-factor', identifier),
      over('messages', 'retry', '999999'),
    ])
    expect(messages.out).toMatch(/confirmation +sent/)
    expect([lifted.code, lifted.out]).toEqual([0, `the limits of ${identifier} are lifted\n`])
    expect(JSON.parse(copy.out).account.email).toBe(identifier)
    expect([unasked.code, unasked.error]).toEqual([
      2,
      `Turn two-factor sign-in off for ${identifier}? Say so with --yes.\n`,
    ])
    expect([none.code, none.error]).toEqual([1, 'There is no such message.\n'])
  })

  test('a changed contact is brought back once, after a question', async () => {
    const [before, after] = [newEmail(), newEmail()]
    const { person, bearer } = await service.signedIn(before)
    const none = await over('accounts', 'undo-contact', before, '--yes')
    expect([none.code, none.error]).toEqual([1, `no change of a contact of ${before} can be undone\n`])
    await service.post('email/change', { email: after, password: person.password }, { bearer })
    await service.post('email/confirm', { otp: await service.inbox.nextCode(after) }, { bearer })
    const masked = `${before.slice(0, 1)}•••@example.com`
    const unasked = await over('accounts', 'undo-contact', after)
    expect([unasked.code, unasked.error]).toEqual([
      2,
      `Bring ${masked} back to ${after}? Every session ends, and the password stops working. Say so with --yes.\n`,
    ])
    const { out } = await over('accounts', 'undo-contact', after, '--yes')
    expect(out).toBe(`the account of ${after} has ${masked} again\n`)
    expect((await service.get('me', { bearer })).status).toBe(401)
    expect((await over('accounts', 'undo-contact', before, '--yes')).code).toBe(1)
  })

  test('an account is made, invited, verified and recovered', async () => {
    const email = newEmail()
    const made = await over('accounts', 'create', '--email', email, '--role', '3', '--invite', '--json')
    expect([made.code, JSON.parse(made.out).role_id]).toEqual([0, 3])
    const invited = await over('accounts', 'invite', email)
    expect(invited.out).toStartWith(`${email} is invited. The code is valid until 20`)
    expect(JSON.parse((await over('accounts', 'verify', email, '--json')).out).account_confirmed).toBe(true)
    const unasked = await over('accounts', 'access-code', email)
    expect([unasked.code, unasked.error]).toEqual([
      2,
      `Show a temporary access code for the account of ${email}? Say so with --yes.\n`,
    ])
    const { code } = JSON.parse((await over('accounts', 'access-code', email, '--yes', '--json')).out)
    const chosen = { password: 'another horse battery', password_confirmation: 'another horse battery' }
    const reset = await service.post('password/reset', { identifier: email, otp: code, ...chosen })
    expect(reset.status).toBe(200)
    expect((await over('accounts', 'recover', email, '--send', 'email')).out).toStartWith(
      'The code is sent. It is valid until',
    )
    expect((await over('accounts', 'create')).code).toBe(2)
    const carrying = [
      '--username',
      'grafana',
      '--group',
      'staff',
      '--group',
      '+beta',
      '--profile',
      '{"name":"Ada"}',
    ]
    const carried = await over('accounts', 'create', '--email', newEmail(), ...carrying, '--json')
    expect(JSON.parse(carried.out)).toMatchObject({
      ...{ username: 'grafana', groups: ['beta', 'staff'], profile: { name: 'Ada' } },
    })
  })

  test('a number that would be kept as another one is refused', async () => {
    for (const number of ['9007199254740993', '100000000000000000000001', '1e400']) {
      const metadata = `{"plan":{"seats":${number}}}`
      const refused = await over('accounts', 'create', '--email', newEmail(), '--metadata', metadata)
      expect([refused.code, refused.error]).toEqual([
        2,
        '--metadata cannot be kept as it is written: plan.seats\n',
      ])
    }
  })

  test('administrators are added, listed and removed', async () => {
    const person = await service.signUp(newEmail())
    const added = await over('admins', 'add', person.identifier, '--role', 'support')
    expect([added.code, added.out]).toEqual([0, `${person.identifier} is an administrator now: support\n`])
    const listed = await over('admins', 'list', '--json')
    expect(JSON.parse(listed.out)).toMatchObject([{ email: person.identifier, role: 'support' }])
    const without = await over('admins', 'add', person.identifier)
    expect([without.code, without.error]).toEqual([
      2,
      'name the role: --role viewer, --role support, --role owner\n',
    ])
    expect((await over('admins', 'remove', person.identifier)).code).toBe(2)
    expect(await over('admins', 'remove', person.identifier, '--yes')).toMatchObject({ code: 0, error: '' })
    expect((await over('admins', 'list')).out).not.toContain(person.identifier)
  })

  test('who takes the last owner of administration away is told', async () => {
    const [ada, bob] = [await service.signUp(newEmail()), await service.signUp(newEmail())]
    const make = (person: { identifier: string }, role: string) =>
      over('admins', 'add', person.identifier, '--role', role)
    const told = { code: 0, error: expect.stringContaining('Nobody is an owner of administration any more') }
    const quiet = { code: 0, error: '' }
    expect([await make(ada, 'owner'), await make(bob, 'owner')]).toMatchObject([quiet, quiet])
    expect(await make(bob, 'support')).toMatchObject(quiet)
    expect(await make(ada, 'viewer')).toMatchObject(told)
    await make(ada, 'owner')
    expect(await over('admins', 'remove', ada.identifier, '--yes')).toMatchObject(told)
    await make(ada, 'owner')
    expect((await over('accounts', 'erase', ada.identifier)).error).toContain(
      'the last owner of administration',
    )
    expect(await over('accounts', 'erase', ada.identifier, '--yes')).toMatchObject(told)
    expect(await over('accounts', 'erase', bob.identifier, '--yes')).toMatchObject(quiet)
  })

  test('tokens are made, listed and revoked', async () => {
    const made = await over('tokens', 'create', '--name', 'backup', '--scopes', 'accounts:read, events:read')
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^pot_adm_[0-9A-Za-z]{28}\n$/)])
    const [token] = JSON.parse((await over('tokens', 'list', '--json')).out)
    expect(token).toMatchObject({ name: 'backup', created_by: { name: 'ada-the-operator' } })
    expect((await over('tokens', 'create', '--name', 'backup')).code).toBe(2)
    expect((await over('tokens', 'revoke', token.id)).code).toBe(2)
    expect((await over('tokens', 'revoke', token.id, '--yes')).out).toBe(`${token.id} is revoked\n`)
    const again = await over('tokens', 'revoke', token.id, '--yes')
    expect([again.code, again.error]).toEqual([1, 'There is no such token.\n'])
  })

  test('an account that is named by its uuid is changed by one call, which looks at nobody', async () => {
    const { account } = await service.signedIn()
    expect((await over('accounts', 'lock', account.uuid)).code).toBe(0)
    const { out } = await over('events', 'list', '--account', account.uuid, '--json')
    const types = JSON.parse(out).map(({ type }: { type: string }) => type)
    expect(types).toContain('account.locked')
    expect(types).not.toContain('account.viewed')
  })

  test('what cannot be is said, with an exit code', async () => {
    const unknown = await over('accounts', 'show', 'nobody@example.com')
    expect([unknown.code, unknown.error]).toEqual([1, 'there is no account nobody@example.com\n'])
    const person = await service.signUp(newEmail())
    const beginning = await over('accounts', 'lock', person.identifier.slice(0, -1))
    expect(beginning.code).toBe(1)
    const unasked = await over('accounts', 'erase', person.identifier)
    expect([unasked.code, unasked.error]).toEqual([
      2,
      `Erase ${person.identifier} for good? Say so with --yes.\n`,
    ])
    expect((await over('accounts', 'erase', person.identifier, '--yes')).code).toBe(0)
    expect((await over('accounts', 'set', person.identifier)).code).toBe(2)
    const nobody = await run(['accounts', 'list', '--socket', '/nowhere.sock'], directory)
    expect([nobody.code, nobody.error]).toEqual([1, 'no service answers at /nowhere.sock\n'])
  })
})

/** They change accounts and sessions, which lie in PostgreSQL on either. */
describe.each(reduced(['redis'] as const, ['postgres', 'redis'] as const))(
  'without a socket, on %s',
  (shape) => {
    const service = useService({ shape })
    const on = (settings: Settings, ...args: string[]) => {
      const { directory, file } = writeSettings(settings)
      return run([...args, '--config', file], directory)
    }

    longTest('they work on the configured database, and leave no file', async () => {
      const { person, bearer } = await service.signedIn()
      const set = await on(service.storage, 'accounts', 'set', person.identifier, '--role', '3', '--json')
      expect([set.code, JSON.parse(set.out).role_id]).toEqual([0, 3])
      const sessions = await on(service.storage, 'sessions', 'end', person.identifier, '--yes')
      expect(sessions.code).toBe(0)
      expect((await service.get('me', { bearer })).status).toBe(401)
      const { directory, file } = writeSettings(service.storage)
      const listed = await run(['accounts', 'list', '--config', file], directory)
      expect(listed.out).toContain(person.identifier)
      expect(existsSync(join(directory, 'data'))).toBe(false)
    })
  },
)
