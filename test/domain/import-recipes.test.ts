/** The recipes of docs/import.md, run on samples as the systems store and export people: whoever comes signs in. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import made from '../helpers/foreign-digests.json'
import { newDirectory } from '../helpers/run-directory.ts'
import { useService } from '../helpers/use-service.ts'

const google = {
  name: 'google',
  issuer: 'https://accounts.google.com',
  client_id: 'poterne',
  client_secret: 'hunterTwo',
}
const service = useService({
  settings: { social: { redirect_uris: ['https://app.example.com/'], providers: [google] } },
})
const directory = newDirectory('recipes')

const page = readFileSync(join(import.meta.dir, '../../docs/import.md'), 'utf8')
const recipes = new Map(
  [...page.matchAll(/^```(sql|python|jq) ([a-z0-9-]+)\n(.*?)^```$/gms)].map(([, , name = '', text = '']) => [
    name,
    text,
  ]),
)
const recipe = (name: string) => recipes.get(name) as string

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const sample = (by: string) => made.find((each) => each.by === by) as (typeof made)[number]
const bcrypt = sample('python bcrypt')

function run(command: string[], input = ''): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input) })
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
  return stdout.toString()
}

function runFile(program: string[], name: string, text: string, input: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return run([...program, file], input)
}
const python = (name: string, input: string, text = recipe(name)) =>
  runFile(['python3'], `${name}.py`, text, input)
const jq = (name: string, input: unknown) =>
  runFile(['jq', '-c', '-f'], `${name}.jq`, recipe(name), JSON.stringify(input))

/** On tables that are gone afterwards. */
function psql(name: string, setup: string, ...options: string[]): string {
  const { url } = service.storage.database as { url: string }
  return run(
    ['psql', '-qAt', '-v', 'ON_ERROR_STOP=1', ...options, url],
    `begin;\n${setup}\n${recipe(name)}\nrollback;`,
  )
}

interface Expected {
  email: string
  password: string
  totp?: boolean
  identity?: boolean
}

/** Imports the lines, twice, and signs in as everybody of them. */
async function bring(lines: string, people: Expected[], waiting = 0) {
  const records = lines
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as Record<string, unknown>)
  const outcomes = async () =>
    (await asOperator(service, 'POST', 'accounts/import', { records })).body.results.map(
      (each: Record<string, unknown>) => each.code ?? each.outcome,
    )
  const everybody = Array<string>(people.length + waiting)
  expect(await outcomes()).toEqual(everybody.fill('imported'))
  expect(await outcomes()).toEqual(everybody.fill('present'))
  for (const { email, password, totp = false, identity = false } of people) {
    const { status, body } = await service.post('login', { identifier: email, password })
    expect([email, status]).toEqual([email, totp ? 202 : 200])
    if (totp) {
      const { login_token } = body.two_factor
      const otp = appCode(SECRET, service.clock.now())
      expect((await service.post('2fa/verify', { identifier: email, login_token, otp })).status).toBe(200)
    }
    const record = records.find((each) => each.email === email)
    expect((record?.identities as unknown[] | undefined)?.length ?? 0).toBe(identity ? 1 : 0)
  }
  return records
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

test('there is one for each system', () => {
  expect([...recipes.keys()]).toEqual([
    ...[
      'supabase',
      'better-auth',
      'devise',
      'django',
      'laravel',
      'wordpress',
      'aspnet',
      'pocketbase',
      'firebase',
    ],
    ...['auth0', 'clerk', 'keycloak', 'kratos'],
  ])
})

test('Supabase', async () => {
  const [email, waits] = [newEmail(), newEmail()]
  const id = crypto.randomUUID()
  const setup = `create schema auth;
    create table auth.users (id uuid, email text, email_confirmed_at timestamptz, phone text, phone_confirmed_at timestamptz,
      encrypted_password text, raw_user_meta_data jsonb, created_at timestamptz, last_sign_in_at timestamptz,
      banned_until timestamptz, deleted_at timestamptz, is_anonymous boolean not null default false);
    create table auth.identities (user_id uuid, provider text, provider_id text);
    create table auth.mfa_factors (user_id uuid, factor_type text, status text, secret text, created_at timestamptz);
    insert into auth.users values ('${id}', '${email}', '2024-01-02 03:04:05.678901+00', null, null, ${quoted(bcrypt.hash)},
        '{"full_name": "Ada"}', '2024-01-01 00:00:00+00', now(), null, null, false),
      (gen_random_uuid(), '${waits}', null, '', null, '', '{}', '2024-01-02 00:00:00+00', null, null, null, false),
      (gen_random_uuid(), null, null, null, null, '', '{}', now(), null, null, null, true);
    insert into auth.identities values ('${id}', 'email', '${id}'), ('${id}', 'google', '${email}');
    insert into auth.mfa_factors values ('${id}', 'totp', 'verified', '${SECRET}', now());`
  const expected = { email, password: bcrypt.password, totp: true, identity: true }
  const [line] = await bring(psql('supabase', setup), [expected], 1)
  expect(line).toMatchObject({ uuid: id, profile: { name: 'Ada' } })
})

test('Better Auth', async () => {
  const email = newEmail()
  const { hash, password } = sample('Better Auth')
  const setup = `create temp table "user" (id text, name text, email text, "emailVerified" boolean, "createdAt" timestamptz);
    create temp table account ("userId" text, "providerId" text, "accountId" text, password text);
    insert into "user" values ('h4Xk', 'Ada', '${email}', true, '2024-01-01 00:00:00+00');
    insert into account values ('h4Xk', 'credential', 'h4Xk', ${quoted(hash)}), ('h4Xk', 'google', '${email}', null);`
  await bring(psql('better-auth', setup), [{ email, password, identity: true }])
})

test('Devise', async () => {
  const { hash, password, pepper } = sample('Devise pepper') as {
    hash: string
    password: string
    pepper: string
  }
  const table = `create temp table users (id bigint, email text, encrypted_password text, confirmed_at timestamp, sign_in_count int,
    current_sign_in_at timestamp, last_sign_in_at timestamp, created_at timestamp);`
  const rowOf = (email: string, digest: string) =>
    `insert into users values (7, '${email}', ${quoted(digest)}, '2024-01-01 00:00:00.123456', 3, '2024-01-03', null, '2024-01-01');`
  const email = newEmail()
  const [line] = await bring(psql('devise', table + rowOf(email, hash), '-v', `pepper=${pepper}`), [
    { email, password },
  ])
  expect(line).toMatchObject({ accountable_id: 7, sign_in_count: 3 })
  const plain = psql('devise', table + rowOf(newEmail(), bcrypt.hash), '-v', 'pepper=')
  expect(JSON.parse(plain).password).toEqual({ hash: bcrypt.hash })
})

test('Django', async () => {
  const [email, waits] = [newEmail(), newEmail()]
  const { hash, password } = made.find((each) =>
    each.hash.startsWith('pbkdf2_sha256'),
  ) as (typeof made)[number]
  const setup = `create temp table auth_user (id int, password text, last_login timestamptz, first_name text, last_name text,
      email text, is_active boolean, date_joined timestamptz);
    create temp table account_emailaddress (user_id int, email text, verified boolean);
    create temp table auth_group (id int, name text);
    create temp table auth_user_groups (user_id int, group_id int);
    insert into auth_user values (1, ${quoted(hash)}, null, 'Ada', '', '${email}', true, '2024-01-01 00:00:00+00'),
      (2, '!x', null, '', '', '${waits}', false, '2024-01-02 00:00:00+00');
    insert into account_emailaddress values (1, '${email}', true), (2, '${waits}', false);
    insert into auth_group values (1, 'staff'); insert into auth_user_groups values (1, 1);`
  const [line] = await bring(psql('django', setup), [{ email, password }], 1)
  expect(line).toMatchObject({ groups: ['staff'], profile: { given_name: 'Ada' } })
})

test('Laravel', async () => {
  const [email, waits] = [newEmail(), newEmail()]
  const { hash, password } = sample('php password_hash')
  const rows = [
    ['3', 'Ada', email, '2024-01-02 03:04:05', hash, '2024-01-01 00:00:00'],
    ['4', 'Bob', waits, 'NULL', hash, 'NULL'],
  ]
  await bring(python('laravel', rows.map((row) => `${row.join('\t')}\n`).join('')), [{ email, password }], 1)
})

test('WordPress', async () => {
  const kinds = [
    sample('WordPress 6.8'),
    sample('passlib phpass'),
    made.find((each) => each.hash.length === 32)!,
  ]
  const people = kinds.map(({ hash, password }) => ({ email: newEmail(), hash, password }))
  const rows = people.map(({ email, hash }, index) => [
    `${index}`,
    email,
    hash,
    'Ada',
    index ? '2024-01-01 00:00:00' : '0000-00-00 00:00:00',
  ])
  await bring(python('wordpress', rows.map((row) => `${row.join('\t')}\n`).join('')), people)
})

test('ASP.NET Identity', async () => {
  const people = [sample('ASP.NET v2'), sample('ASP.NET v3')].map(({ hash, password }, index) => ({
    ...{ email: newEmail(), hash, password, totp: index === 1 },
  }))
  const rows = people.map(({ email, hash, totp }) => [
    ...[
      crypto.randomUUID().toUpperCase(),
      email,
      '1',
      totp ? newPhone() : 'NULL',
      '0',
      hash,
      totp ? '1' : '0',
      SECRET,
    ],
  ])
  await bring(python('aspnet', rows.map((row) => `${row.join('\t')}\n`).join('')), people)
})

test('PocketBase', async () => {
  const [email, waits] = [newEmail(), newEmail()]
  using database = new Database(':memory:')
  database.run(
    'create table users (id text, email text, verified boolean, password text, name text, created text)',
  )
  database.run('create table _externalAuths (recordRef text, provider text, providerId text)')
  database.run(`insert into users values ('abc123def456ghi', '${email}', 1, ${quoted(bcrypt.hash)}, 'Ada', '2024-01-02 03:04:05.678Z'),
    ('zzz123def456ghi', '${waits}', 0, ${quoted(bcrypt.hash)}, '', '2024-01-03 03:04:05.678Z')`)
  database.run(`insert into _externalAuths values ('abc123def456ghi', 'google', '${email}')`)
  const lines = database.query<Record<string, string>, []>(recipe('pocketbase')).all()
  const text = lines.flatMap((row) => Object.values(row)).join('\n')
  await bring(text, [{ email, password: bcrypt.password, identity: true }], 1)
})

test('Firebase', async () => {
  const { hash, password } = sample('Firebase')
  const [, , parameters = '', salt, passwordHash] = hash.split('$')
  const key = parameters.slice(parameters.indexOf('sk=') + 3)
  const email = newEmail()
  const users = [
    {
      ...{ localId: 'Xk3vP0aQ9bT2mN8r', email, emailVerified: true, passwordHash, salt, displayName: 'Ada' },
      ...{ createdAt: '1704067200000', lastSignedInAt: '1704153600000' },
      providerUserInfo: [
        { providerId: 'google.com', rawId: email, email },
        { providerId: 'password', rawId: email, email },
      ],
    },
    {
      localId: 'numberOnly',
      phoneNumber: newPhone(),
      providerUserInfo: [{ providerId: 'phone', rawId: '+33' }],
    },
  ]
  const text = recipe('firebase')
    .replace('base64_signer_key', key)
    .replace('= ', '= ')
    .replace('8, 14', '8, 11')
  const [line] = await bring(
    python('firebase', JSON.stringify({ users }), text),
    [{ email, password, identity: true }],
    1,
  )
  expect(line?.created_at).toBe('2024-01-01T00:00:00Z')
})

test('Auth0', async () => {
  const [email, waits] = [newEmail(), newEmail()]
  const { hash: passwordHash, password } = bcrypt
  const common = {
    tenant: 'example',
    connection: 'Username-Password-Authentication',
    _tmp_is_unique: true,
    passwordHash,
  }
  const users = [
    {
      _id: { $oid: '5dea9f9c82dd7c0e76e4ec93' },
      email_verified: false,
      email: waits,
      ...common,
      alt_id: 'euclid',
    },
    {
      _id: { $oid: '5dea9f9c82dd7c0e76e4ec94' },
      ...common,
      identifiers: [{ type: 'email', value: email, verified: true }],
    },
  ]
  const lines = python('auth0', users.map((each) => `${JSON.stringify(each)}\n`).join(''))
  const [line] = await bring(lines, [{ email, password }], 1)
  expect(line?.metadata).toEqual({ auth0: 'auth0|euclid' })
})

test('Clerk', async () => {
  const [email, old] = [newEmail(), newEmail()]
  const columns = [
    ...['id', 'first_name', 'last_name', 'username', 'primary_email_address', 'primary_phone_number'],
    ...[
      'verified_email_addresses',
      'unverified_email_addresses',
      'verified_phone_numbers',
      'unverified_phone_numbers',
    ],
    ...['totp_secret', 'password_digest', 'password_hasher'],
  ]
  const md5 = made.find((each) => each.hash.length === 32)!
  const rows = [
    ['user_2abc', 'Ada', '', '', email, '', email, '', '', '', SECRET, bcrypt.hash, 'bcrypt'],
    ['user_2abd', '', '', '', old, '', old, '', '', '', '', md5.hash, 'md5'],
  ]
  const people = [
    { email, password: bcrypt.password, totp: true },
    { email: old, password: md5.password },
  ]
  await bring(python('clerk', `${[columns, ...rows].map((row) => row.join(',')).join('\n')}\n`), people)
})

test('Keycloak', async () => {
  const [pbkdf2, argon2] = [
    sample('Kratos'),
    made.find((each) => each.hash.startsWith('$argon2id$v=19$m=512'))!,
  ]
  const [, , , salt, value] = pbkdf2.hash.split('$')
  const padded = (text = '') => text.padEnd(Math.ceil(text.length / 4) * 4, '=')
  const [, , , , argonSalt, argonValue] = argon2.hash.split('$')
  const credential = (type: string, secret: object, data: object) => ({
    ...{ id: crypto.randomUUID(), type, createdDate: 1704067200000 },
    ...{ secretData: JSON.stringify(secret), credentialData: JSON.stringify(data) },
  })
  const user = (email: string, credentials: object[]) => ({
    ...{
      id: crypto.randomUUID(),
      createdTimestamp: 1704067200123,
      username: email,
      enabled: true,
      totp: false,
    },
    ...{
      emailVerified: true,
      firstName: 'Ada',
      lastName: 'L',
      email,
      credentials,
      groups: ['/staff/editors'],
    },
  })
  const parameters = {
    hashLength: ['32'],
    memory: ['512'],
    type: ['id'],
    version: ['1.3'],
    parallelism: ['2'],
  }
  const [one, two] = [newEmail(), newEmail()]
  const users = [
    {
      ...user(one, [
        credential(
          'password',
          { value: padded(value), salt: padded(salt) },
          { hashIterations: 15000, algorithm: 'pbkdf2-sha256' },
        ),
        credential(
          'otp',
          { value: Buffer.from(decode32(SECRET)).toString('latin1') },
          { subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1' },
        ),
      ]),
      federatedIdentities: [{ identityProvider: 'google', userId: one, userName: one }],
    },
    user(two, [
      credential(
        'password',
        { value: padded(argonValue), salt: padded(argonSalt) },
        { hashIterations: 2, algorithm: 'argon2', additionalParameters: parameters },
      ),
    ]),
    { ...user('', []), serviceAccountClientId: 'cron' },
  ]
  const lines = jq('keycloak', { realm: 'x', users })
  const [line] = await bring(lines, [
    { email: one, password: pbkdf2.password, totp: true, identity: true },
    { email: two, password: argon2.password },
  ])
  expect(line?.groups).toEqual(['staff-editors'])
})

test('Kratos', async () => {
  const email = newEmail()
  const { hash, password } = sample('Kratos')
  const address = {
    value: email,
    verified: true,
    via: 'email',
    status: 'completed',
    verified_at: '2024-01-02T03:04:05.678901Z',
  }
  const identity = {
    ...{
      id: crypto.randomUUID(),
      schema_id: 'default',
      state: 'active',
      traits: { email },
      verifiable_addresses: [address],
    },
    created_at: '2024-01-01T00:00:00.123456Z',
    credentials: {
      password: { type: 'password', identifiers: [email], config: { hashed_password: hash } },
      totp: {
        type: 'totp',
        config: {
          totp_url: `otpauth://totp/x:${email}?algorithm=SHA1&digits=6&issuer=x&period=30&secret=${SECRET}`,
        },
      },
      oidc: { type: 'oidc', config: { providers: [{ provider: 'google', subject: email }] } },
    },
  }
  await bring(jq('kratos', [identity]), [{ email, password, totp: true, identity: true }])
})

/** The bytes that a secret in base32 stands for. */
function decode32(text: string): number[] {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
}
