/** `poterne backup` while a service serves, and `poterne restore` of what it wrote, on both kinds of database. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sql } from 'drizzle-orm'
import { createSecretStore } from '../../src/domain/credentials/secrets/store.ts'
import { openSocket } from '../../src/platform/admin-socket.ts'
import { type CopySession, openServerCopy } from '../../src/platform/postgres/copy.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import { applyMigrations, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { secretKeyId } from '../../src/storage/backup/keys.ts'
import type { Manifest } from '../../src/storage/backup/manifest.ts'
import { encodeRecord, recordKinds } from '../../src/storage/backup/records.ts'
import { createSealedFile } from '../../src/storage/backup/sealed-file.ts'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { runExecutable, spawnExecutable } from '../helpers/executable.ts'
import { newDirectory, newFastDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { type Settings, startService, type TestService, writeSettings } from '../helpers/service.ts'
import { longTest, reduced, soaking } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(180_000)

const passphraseFile = join(newDirectory('passphrase'), 'file')
writeFileSync(passphraseFile, 'a passphrase of some length\n')

async function poterne(args: string[], settings: Settings, socket = '') {
  const { directory, file } = writeSettings(settings)
  const env = { USER: 'ada', ...(socket && { POTERNE_ADMIN_SOCKET: socket }) }
  return runExecutable([...args, '--config', file], { directory, env })
}

const give = async (service: TestService, uuid: string, username: string) =>
  (await asOperator(service, 'PATCH', `accounts/${uuid}`, { username })).status

/** An empty database of the other kind; the server has another secret than the service. */
async function emptyTarget(kind: 'embedded' | 'redis'): Promise<Settings> {
  if (kind === 'redis') return { storage: { data_dir: join(newFastDirectory('target'), 'data') } }
  const { url } = await createDatabase({ migrated: false })
  return { server: { secret: 'cd'.repeat(32) }, database: { url } }
}

/** The other way round, and everything else, is tried on the embedded database by a soak. */
const tried = reduced(['redis'] as const, ['embedded', 'redis'] as const)

describe.each(tried)('with %s', (shape) => {
  test('everything acknowledged before the backup is restored, no half of anything, and what was undone since is undone again', async () => {
    const service = await startService({ shape })
    const socket = join(newDirectory('socket'), 'a.sock')
    const opened = await openSocket(socket, service.inside.administration.handle)
    if ('refused' in opened) throw new Error(opened.refused)
    const file = join(newDirectory('backup'), 'auth.backup')
    // The secret that poterne made needs a passphrase; the configured one seals by itself.
    const sealing = shape === 'embedded' ? ['--passphrase-file', passphraseFile] : []
    const backUp = (...more: string[]) => poterne(['backup', file, ...more], service.storage, socket)
    if (shape === 'embedded') {
      const { code, error } = await backUp()
      expect([code, error.split('\n')]).toEqual([
        2,
        [
          expect.stringMatching(
            /^the server secret is the file that poterne made in .*: name a passphrase file/,
          ),
          '',
        ],
      ])
    } else {
      const { code, error } = await backUp('--with-secret')
      expect([code, error]).toEqual([
        2,
        '--with-secret needs a passphrase: name its file with --passphrase-file\n',
      ])
    }

    const [ada, erased, locked] = [
      await service.signUp(newEmail()),
      await service.signUp(newEmail()),
      await service.signUp(newEmail()),
    ]
    // Messages to a contact that the person no longer has go with the account too.
    const [oldEmail, password] = [erased.identifier, erased.password]
    const { access_token: bearer } = await service.logIn(erased)
    erased.identifier = newEmail()
    await service.post('email/change', { email: erased.identifier, password }, { bearer })
    const otp = await service.inbox.nextCode(erased.identifier)
    expect((await service.post('email/confirm', { otp }, { bearer })).status).toBe(200)
    const app = await protectByApp(service)
    const { refresh_token } = await service.logIn(ada)
    const { administrators, administrationTokens } = service.inside.services
    const makeOwner = async ({ identifier }: { identifier: string }) =>
      (await administrators.put(identifier, 'owner')).administrator
    const [staying, leaving] = [await makeOwner(ada), await makeOwner(app.person)]
    const operator = { type: 'operator', id: 'ada', name: 'ada' } as const
    const wish = { name: 'script', scopes: ['accounts:read'], expiresIn: '90d' } as const
    const { stored: token } = await administrationTokens.create(operator, wish)

    const { people, accountFactors, twoFactorRemovals } = service.inside.services
    const { account: bobs } = await service.signedIn()
    expect(await give(service, staying.uuid, 'ada')).toBe(200)
    const codeOf = async (uuid: string) => (await people.recover(uuid, { lifetime: '24h' })).code!
    const [used, unused] = [await codeOf(staying.uuid), await codeOf(bobs.uuid)]
    await accountFactors.removeTwoFactor(leaving.uuid, { delayed: true })
    const resetBy = ({ post }: typeof service, identifier: string, otp: string) =>
      post('password/reset', { identifier, otp, password: PASSWORD, password_confirmation: PASSWORD })

    // Clients write while the backup is made.
    const before: string[] = []
    let isMade = false
    const acknowledged: string[] = []
    const clients = Array.from({ length: reduced(2, 64) }, async () => {
      while (!isMade && acknowledged.length < 1000) {
        const email = newEmail()
        const { status } = await service.post('register', registration(email))
        if (status === 201) acknowledged.push(email)
        await Bun.sleep(reduced(20, 1))
      }
    })
    while (acknowledged.length < 20) await Bun.sleep(5)
    before.push(...acknowledged)
    const made = await backUp('--json', ...sealing, ...(shape === 'embedded' ? ['--with-secret'] : []))
    isMade = true
    await Promise.all(clients)
    expect([made.error, made.code]).toEqual(['', 0])
    expect(JSON.parse(made.out)).toMatchObject({ file, restored: true })
    expect(acknowledged.length).toBeGreaterThan(before.length)
    expect(readdirSync(dirname(file))).toEqual([basename(file)])
    if (shape === 'embedded') {
      const [dataDir, other] = [service.storage.storage!.data_dir as string, `${file}.other`]
      const { directory, file: config } = writeSettings(service.storage)
      const interrupted = await spawnExecutable(
        ['backup', other, '--passphrase-file', passphraseFile, '--config', config],
        { directory, env: { POTERNE_ADMIN_SOCKET: socket } },
      )
      await waitFor(() => readdirSync(dirname(file)).length > 1, {
        what: 'the backup to begin',
        timeoutMs: 60_000,
        intervalMs: 1,
      })
      interrupted.signal('SIGINT')
      expect(await interrupted.exited).toBe(130)
      expect(readdirSync(dirname(file))).toEqual([basename(file)])
      const left = readdirSync(dataDir)
      expect(left.filter((name) => name.startsWith('snapshot-'))).toEqual([])
    }
    const content = readFileSync(file)
    for (const clear of [ada.identifier, 'argon2', 'example.com']) expect(content.includes(clear)).toBeFalse()

    const signInWithApp = async ({ post, clock }: typeof service) => {
      const { body } = await post('login', app.person)
      const otp = appCode(app.secret, clock.now(), 1)
      const { identifier } = app.person
      return (await post('2fa/verify', { identifier, otp, login_token: body.two_factor?.login_token })).status
    }

    // Events after it.
    expect(await give(service, bobs.uuid, 'bob')).toBe(200)
    expect(await give(service, staying.uuid, 'ada2')).toBe(200)
    expect((await resetBy(service, staying.uuid, used)).status).toBe(200)
    await service.delivered()
    const notice = service.inbox.textsTo(app.person.identifier).find((text) => text.includes('/stop?t='))!
    expect(await twoFactorRemovals.stop(/\/stop\?t=([\w-]+)/.exec(notice)![1]!)).toBeTrue()
    const uuidOf = async ({ identifier }: { identifier: string }) =>
      (await service.logIn({ identifier, password: PASSWORD })).account.uuid as string
    const [erasedId, lockedId] = [await uuidOf(erased), await uuidOf(locked)]
    await service.inside.services.directory.erase(erasedId)
    await service.inside.services.directory.change(lockedId, {
      locked: true,
      locked_reason: 'fraud',
    })
    const oldKey = service.inside.services.keys.signingKey().kid
    await service.inside.services.keys.revoke(oldKey)
    await administrationTokens.revoke(token.uuid)
    await administrators.remove(leaving.uuid)
    await administrators.put(staying.uuid, 'viewer')
    await service.inside.app.server!.stop(true)
    await opened.server.stop(true)
    const events = await service.inside.services.auditTrail.list({ type: 'backup.created' })
    expect(events.items).toMatchObject([{ actor: { type: 'operator', id: 'ada' } }])

    // It replaces the same database.
    const restore = (settings: Settings, ...more: string[]) =>
      poterne(['restore', file, ...sealing, ...more], settings)
    if (shape === 'redis') {
      expect((await restore(service.storage, '--replace', '--yes')).error).toContain(
        'stop every replica first',
      )
    }
    await service.inside.close()
    expect(await restore(service.storage)).toEqual({
      ...{ out: '', code: 1 },
      error: 'the database has accounts already: --replace puts the backup in their place\n',
    })
    const damaged = join(newDirectory('backup'), 'damaged')
    writeFileSync(damaged, content.subarray(0, -20))
    const refused = await poterne(['restore', damaged, '--replace', '--yes', ...sealing], service.storage)
    expect(refused).toEqual({ out: '', code: 1, error: `${damaged} is damaged or cut off\n` })
    const asked = await restore(service.storage, '--replace')
    expect([asked.out, asked.code]).toEqual(['', 2])
    expect(asked.error).toMatch(
      /\d+ accounts, the newest of 20\d\d-\S+Z, are replaced by the backup of 20\d\d-\S+Z\. Replace them\? Say so with --yes\./,
    )
    const replaced = await restore(service.storage, '--replace', '--yes')
    expect([replaced.error, replaced.code]).toEqual(['', 0])
    expect(replaced.out).toContain(
      '1 erasures, 1 withdrawn keys, 1 locks, 1 revoked tokens, 2 changes of administrators',
    )
    const again = await startService({ shape, storage: service.storage })
    try {
      expect((await again.post('login', erased)).body.code).toBe('invalid_credentials')
      expect((await again.post('login', locked)).body.code).toBe('account_locked')
      const { items: sent } = (await asOperator(again, 'GET', 'messages?limit=200')).body
      const addressees = sent.map(({ destination }: { destination: string }) => destination)
      expect(addressees).toContain(locked.identifier)
      expect(addressees).not.toContain(erased.identifier)
      expect(addressees).not.toContain(oldEmail)
      expect((await again.post('refresh', { refresh_token })).status).toBe(401)
      expect(again.inside.services.keys.signingKey().kid).not.toBe(oldKey)
      expect((await again.inside.services.administrationTokens.list({})).items).toEqual([])
      expect((await again.inside.services.administrators.list({})).items).toMatchObject([
        { uuid: staying.uuid, role: 'viewer' },
      ])
      expect((await resetBy(again, staying.uuid, used)).body.code).toBe('invalid_code')
      expect((await resetBy(again, bobs.uuid, unused)).status).toBe(200)
      const later = new Date(again.clock.now().getTime() + 2 * 86_400_000)
      expect(await again.inside.services.twoFactorRemovals.removeDue(later, 10)).toBe(0)
      expect(await signInWithApp(again)).toBe(200)
      for (const email of before)
        expect((await again.post('login', { identifier: email, password: PASSWORD })).body.code).toBe(
          'account_unconfirmed',
        )
      const restored = await again.inside.services.auditTrail.list({
        type: 'backup.restored',
      })
      expect(restored.items).toMatchObject([
        { actor: { type: 'operator', id: 'ada' }, data: { replaced: true } },
      ])
      expect(await again.logIn(ada)).toMatchObject({ status: 200 })
      // No username goes to another account, whether it was given before the backup or after it.
      const { account: carol } = await again.signedIn()
      for (const name of ['ada', 'ada2', 'bob']) expect(await give(again, carol.uuid, name)).toBe(409)
      expect(await give(again, bobs.uuid, 'ada2')).toBe(409)
      expect(await give(again, staying.uuid, 'ada2')).toBe(200)
      expect(await give(again, bobs.uuid, 'bob')).toBe(200)
    } finally {
      await again.close()
      await Promise.all([service.smtp.stop(), service.gateway.stop()])
    }

    // It goes to a new place of the other kind. A server has a secret of its own; an embedded database takes that of the
    // backup.
    if (!soaking) return
    const target = await emptyTarget(shape)
    if (shape === 'embedded') {
      expect((await restore(target, '--keep-sessions')).error).toStartWith(
        'the sessions cannot be kept: the server secret of the backup is neither',
      )
      expect((await restore(target)).out).toContain('rows were sealed anew')
    } else {
      const locked = await restore(target)
      expect(locked.error).toMatch(/is sealed with another server secret \(key [\da-f]{8}\): name a file/)
      const secretFile = join(newDirectory('secret'), 'file')
      writeFileSync(secretFile, `${'ab'.repeat(32)}\n`)
      const fresh = await restore(target, '--keep-sessions', '--secret-file', secretFile)
      expect([fresh.error, fresh.code]).toEqual(['', 0])
      expect(fresh.out).toContain('Not known: erasures, revoked keys and locks since')
    }
    await using elsewhere = await startService({ shape, storage: target })
    if (shape === 'redis') expect((await elsewhere.post('refresh', { refresh_token })).status).toBe(200)
    else elsewhere.clock.advance(60_000)
    expect(await signInWithApp(elsewhere)).toBe(200)
  })
})

const rawStatement = (text: string) =>
  defineStatement({ name: `test.${crypto.randomUUID()}`, params: {}, sql: () => sql.raw(text) })

/** A restore refuses a database to which others are connected. */
async function onDatabase<T>({ database }: Settings, work: (database: Database) => Promise<T>): Promise<T> {
  const connected = await connectServer({ url: database!.url as string, poolSize: 1 })
  try {
    return await work(connected)
  } finally {
    await connected.close()
  }
}

describe('a restore after the events were swept', () => {
  const restore = (file: string, settings: Settings) =>
    poterne(['restore', file, '--replace', '--yes', '--json', '--passphrase-file', passphraseFile], settings)

  async function backUpOnce() {
    const service = await startService({ shape: 'redis' })
    const { administrators, administrationTokens, keys } = service.inside.services
    const [ada, bob] = [await service.signUp(newEmail()), await service.signUp(newEmail())]
    const { administrator } = await administrators.put(ada.identifier, 'owner')
    const operator = { type: 'operator', id: 'ada', name: 'ada' } as const
    const wish = { name: 'script', scopes: ['accounts:read'], expiresIn: '90d' } as const
    const { stored: token } = await administrationTokens.create(operator, wish)
    const file = join(newDirectory('swept'), 'auth.backup')
    await give(service, administrator.uuid, 'ada')
    const made = await poterne(
      ['backup', file, '--passphrase-file', passphraseFile, '--with-secret'],
      service.storage,
    )
    expect([made.error, made.code]).toEqual(['', 0])
    const key = keys.signingKey().kid
    await service.inside.close()
    await Promise.all([service.smtp.stop(), service.gateway.stop()])
    return { storage: service.storage, file, bob, administrator, token, key }
  }

  let backedUpBefore: ReturnType<typeof backUpOnce> | undefined
  /** A service whose database is a copy of the one that was backed up. */
  async function backedUp() {
    backedUpBefore ??= backUpOnce()
    const { storage, ...known } = await backedUpBefore
    const { url } = await createDatabase({ copied: storage.database!.url as string })
    return { service: await startService({ storage: { ...storage, database: { url } } }), ...known }
  }

  longTest('still knows who was erased, removed and revoked, and says what it cannot know', async () => {
    const { service, file, bob, administrator, token, key } = await backedUp()
    const { administrators, administrationTokens, keys, directory } = service.inside.services
    const uuid = (await service.logIn(bob)).account.uuid as string
    await directory.erase(uuid)
    await administrators.remove(administrator.uuid)
    await administrationTokens.revoke(token.uuid)
    await keys.revoke(key)
    await service.inside.close()
    const run = (text: string) =>
      onDatabase(service.storage, (database) => database.all(rawStatement(text), {}))
    await run(`select sweep_events('2100-01-01', 100000)`)
    const first = JSON.parse((await restore(file, service.storage)).out)
    expect(first).toMatchObject({
      ...{ erased: [uuid], administrators: [{ uuid: administrator.uuid, role: null }] },
      ...{ revokedTokens: [token.uuid], revokedKeys: [key] },
      ...{ knewLater: true, knewErasures: true, lastingKeys: 'replaced' },
    })
    // An upgrade from a version that swept erasures leaves it so.
    await run(`select sweep_events('2100-01-01', 100000)`)
    await run(`update erased_accounts set erased_at = '2100-01-01' where uuid::text like '00000000-%'`)
    expect(JSON.parse((await restore(file, service.storage)).out)).toMatchObject({
      ...{ erased: [uuid], knewLater: true, knewErasures: false },
    })
    // Another service: nothing of it is held against the backup.
    await run('delete from accounts')
    await run('delete from erased_accounts')
    await run(`select sweep_events('2100-01-01', 100000)`)
    await run('delete from erased_accounts')
    expect(JSON.parse((await restore(file, service.storage)).out)).toMatchObject({
      ...{ erased: [], administrators: [], revokedTokens: [], knewLater: false, lastingKeys: 'backup' },
    })
    await Promise.all([service.smtp.stop(), service.gateway.stop()])
  })

  longTest('does not bring back the keys of a secret that leaked', async () => {
    const { service, file, bob, key } = await backedUp()
    const bobs = (await service.logIn(bob)).account.uuid as string
    await service.inside.close()
    const fresh = { ...service.storage, server: { ...service.storage.server, secret: 'ef'.repeat(32) } }
    const revoked = await poterne(['secret', 'revoke', '--yes'], fresh)
    expect([revoked.error, revoked.code]).toEqual([
      expect.stringMatching(/^[^\n]*"a signing key opens under no accepted server secret"\}\n$/),
      0,
    ])
    const lasting = async () => {
      const stores = await onDatabase(service.storage, (database) =>
        createSecretStore(database).listLastingKeys(),
      )
      const secret = createServerSecret(Buffer.from('ef'.repeat(32), 'hex'), [])
      return stores
        .map(
          ({ label, sealedKey }) => `${label} ${secret.tryToOpen('lasting key', sealedKey)!.bytes.toHex()}`,
        )
        .sort()
    }
    const before = await lasting()
    expect(JSON.parse((await restore(file, fresh)).out)).toMatchObject({
      ...{ lastingKeys: 'replaced', revokedKeys: [key] },
    })
    expect(await lasting()).toEqual(before)
    const revokedSince = await startService({ shape: 'redis', storage: fresh })
    expect(await give(revokedSince, bobs, 'ada')).toBe(409)
    expect(await give(revokedSince, bobs, 'bob')).toBe(200)
    await revokedSince.close()
    const { url } = await createDatabase({ migrated: false })
    const elsewhere = { ...fresh, database: { url } }
    expect(JSON.parse((await restore(file, elsewhere)).out)).toMatchObject({ lastingKeys: 'fresh' })
    const again = await startService({ shape: 'redis', storage: elsewhere })
    try {
      expect(again.inside.services.keys.signingKey().kid).not.toBe(key)
    } finally {
      await again.close()
      await Promise.all([service.smtp.stop(), service.gateway.stop()])
    }
  })
})

/** Writes the backup as the executable of that time did: its migrations, its tables, its columns. */
async function writeOlderBackup(session: CopySession, secret: Uint8Array): Promise<string> {
  const file = join(newDirectory('older'), 'older.backup')
  const writer = await createSealedFile(file, { kind: 'secret', secret })
  const put = async (kind: keyof typeof recordKinds, payload: Uint8Array) => {
    for (const bytes of encodeRecord(recordKinds[kind], payload)) await writer.write(bytes)
  }
  const tables = await session.query<{ name: string; list: string }>(
    `select relname as name, string_agg(attname, ',' order by attnum) as list
       from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
      where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'poterne_migrations'
      group by 1`,
  )
  const parts: Manifest['parts'] = []
  for (const { name, list } of tables) {
    const columns = list.split(',')
    const rows = Buffer.concat(await Array.fromAsync(session.copyOut({ name, columns, identity: null })))
    const sha256 = new Bun.CryptoHasher('sha256').update(rows).digest('hex')
    parts.push({ name, columns, rows: rows.toString().split('\n').length - 1, bytes: rows.length, sha256 })
    await put('part', Buffer.from(JSON.stringify({ name, columns })))
    if (rows.length > 0) await put('block', Bun.zstdCompressSync(rows))
  }
  const [migration] = await session.query<Manifest['migration']>(
    'select number, name, hash from poterne_migrations order by number desc limit 1',
  )
  const sequences = [{ table: 'accounts', column: 'id', last_value: 1, is_called: true }]
  const manifest: Manifest = {
    ...{ version: '0.1.0', created_at: new Date().toISOString(), source: 'postgres', parts, sequences },
    ...{ migration: migration!, secret_key_id: secretKeyId(secret) },
  }
  await put('manifest', Buffer.from(JSON.stringify(manifest)))
  await writer.end()
  await writer.close()
  return file
}

test.each(tried)('a backup of an older version is brought up to date (%s)', async (shape) => {
  const { url } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 1 })
  // The schema of the first release.
  const migrations = ownMigrations.slice(0, 1)
  await applyMigrations(database, new Date(), { migrations })
  await database.close()
  const session = await openServerCopy(url)
  const ada = { identifier: newEmail(), password: PASSWORD }
  const digest = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
  await session.query(
    `insert into accounts (uuid, email, email_key, password_digest, accountable_type, role_id, created_at, updated_at,
                           email_confirmed_at, account_confirmed_at, language)
     values (gen_random_uuid(), $1::text, $1::text, $2::text, 'User', 1, now(), now(), now(), now(), 'fr')`,
    [ada.identifier, digest],
  )
  const secret = 'ab'.repeat(32)
  const file = await writeOlderBackup(session, Buffer.from(secret, 'hex'))
  await session.close()
  const storage =
    shape === 'embedded'
      ? { storage: { data_dir: join(newFastDirectory('target'), 'data') } }
      : { database: { url: (await createDatabase({ migrated: false })).url } }
  const target = { server: { secret }, ...storage }
  const restored = await poterne(['restore', file], target)
  expect([restored.error, restored.code]).toEqual(['', 0])
  await using service = await startService({ shape, storage: target })
  expect(await service.logIn(ada)).toMatchObject({ status: 200 })
  const fresh = await service.signUp(newEmail())
  expect(await service.logIn(fresh)).toMatchObject({ status: 200 })
})
