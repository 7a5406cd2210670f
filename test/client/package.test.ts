/** The package as it is published: what it weighs, what others make of its types, and engines that have little. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { publint } from 'publint'
import type { createClient as CreateClient } from '../../src/client/index.ts'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

setDefaultTimeout(120_000)

const root = join(import.meta.dir, '../..')
const built = join(root, 'dist/client')
const service = useService({ shape: 'redis', settings: { passkeys: { rp_id: 'auth.internal' } } })
let packed = ''

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [out, problems, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')}: ${out}${problems}`)
  return out
}

/** A project of somebody else, with the packed file installed as npm would. */
async function newProject(): Promise<string> {
  const directory = newDirectory('client-project')
  const target = join(directory, 'node_modules/@poterne/client')
  mkdirSync(target, { recursive: true })
  await run(['tar', '--extract', '--file', packed, '--strip-components=1', '--directory', target], directory)
  await run(['ln', '-s', join(root, 'node_modules/jose'), join(directory, 'node_modules/jose')], directory)
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  return directory
}

beforeAll(async () => {
  await run([process.execPath, 'scripts/build-client.ts'], root)
  const directory = newDirectory('client-package')
  const [{ filename }] = JSON.parse(
    await run(['npm', 'pack', '--json', '--pack-destination', directory], built),
  ) as [{ filename: string }]
  packed = join(directory, filename)
})

describe('the client package', () => {
  test.each([
    ['index', 5000],
    ['react', 500],
  ])('%s has at most %d bytes', async (entry, most) => {
    const { outputFiles } = await build({
      entryPoints: [join(built, `${entry}.js`)],
      bundle: true,
      format: 'esm',
      target: 'es2022',
      minify: true,
      write: false,
      external: ['react'],
    })
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(most)
  })

  test('has readable modules, their declarations and three files more', () => {
    const others = readdirSync(built).filter((name) => !/^[a-z-]+(\.d\.ts|\.js)$/.test(name))
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(Bun.file(join(built, 'api.d.ts')).size).toBeLessThanOrEqual(120_000)
  })

  longTest('is in order for publint and for those who look at its types', async () => {
    const { messages } = await publint({ pkgDir: built, strict: true })
    expect(messages).toEqual([])
    await run([join(root, 'node_modules/.bin/attw'), packed, '--profile', 'esm-only'], root)
  })

  longTest('compiles strictly in somebody else’s project, typed by method and path', async () => {
    const directory = await newProject()
    writeFileSync(
      join(directory, 'app.ts'),
      `import { createClient, PoterneError, type Account, type Session } from '@poterne/client'
import { cookieStorage, createVerifier } from '@poterne/client/server'

const auth = createClient({ url: 'https://auth.example.com' })
export const email = async (): Promise<Account['email']> => (await auth.call('GET', 'me')).account.email
export const sessions = async (): Promise<Session[]> => (await auth.call('GET', 'sessions')).sessions
export const more = async () => (await auth.call('GET', 'events?limit=5')).next_cursor
export const end = async (id: string): Promise<string> => (await auth.call('DELETE', \`sessions/\${id}\`)).message
await auth.call('PATCH', 'me', { language: 'es', profile: { name: 'Ada' } })
const step = await auth.signIn({ identifier: 'ada@example.com', password: 'x' })
if (step.twoFactor) await auth.finish(step.twoFactor, { otp: '123456' })
else step.account.uuid.toUpperCase()
await auth.call('POST', 'password/change', { current_password: 'x', password: 'y' })
// @ts-expect-error no such route
await auth.call('GET', 'nothing')
// @ts-expect-error no such field
await auth.call('PATCH', 'me', { languages: 'es' })
const storage = cookieStorage({ secret: 'x'.repeat(32), get: () => null })
createClient({ url: 'https://auth.example.com', storage })
const { sub, claims } = await createVerifier({ url: 'https://auth.example.com' }).verify('token')
export const text: string = sub + claims.iss + new PoterneError('network').code
`,
    )
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
    await run([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '--project', '.'], directory)
  })

  const tour = `
    const auth = createClient({ url, fetch: (address, init) => fetch(address, init) })
    const identifier = email
    await auth.signIn({ identifier, password })
    await auth.reload()
    const { uuid } = auth.state.account
    await auth.signOut()
    return uuid`

  async function newPerson(): Promise<{ email: string; uuid: string }> {
    const email = newEmail()
    const { uuid } = await service.signedIn(email)
    return { email, uuid }
  }

  /** The tour, a cookie, and an access token that is verified with the feed. */
  async function runIn(engine: string, directory: string): Promise<void> {
    const { email, uuid } = await newPerson()
    const values = JSON.stringify({ url: service.url, email, password: PASSWORD })
    const watching = { name: 'verifier', scopes: ['sessions:watch'], expires_in: '1d' }
    const { token } = (await asOperator(service, 'POST', 'tokens', watching)).body
    writeFileSync(
      join(directory, 'app.js'),
      `import { createClient } from '@poterne/client'
import { cookieStorage, createVerifier } from '@poterne/client/server'
const { url, email, password } = ${values}
const tour = async ({ url, email, password }) => {${tour}}
const names = { issuer: 'http://auth.internal', audience: 'http://auth.internal' }
const verifier = createVerifier({ url, ...names, feedToken: '${token}' })
const storage = cookieStorage({ secret: 'x'.repeat(32), get: () => null, set: () => {} })
const auth = createClient({ url, storage })
await auth.signIn({ identifier: email, password })
const { sub } = await verifier.verify(await auth.accessToken())
console.log(await tour({ url, email, password }) === sub && sub)`,
    )
    expect((await run([engine, 'app.js'], directory)).trim()).toBe(uuid)
  }

  test('runs in Node and in Bun, and lets the process end', async () => {
    const directory = await newProject()
    for (const engine of ['node', process.execPath]) await runIn(engine, directory)
  })

  longTest('runs in Node 22', async () => {
    const directory = await newProject()
    await run(
      ['npm', 'install', '--no-save', '--prefix', join(directory, 'engine'), 'node@22.23.3'],
      directory,
    )
    await runIn(join(directory, 'engine/node_modules/.bin/node'), directory)
  })

  test('runs in an engine that has fetch, promises and setTimeout alone', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(built, 'index.js')],
      bundle: true,
      format: 'iife',
      globalName: 'poterne',
      target: 'es2022',
      write: false,
    })
    const { email, uuid } = await newPerson()
    const context = { fetch: bareFetch, setTimeout, url: service.url, email, password: PASSWORD }
    const result = (await runInNewContext(
      `${outputFiles[0]!.text}
      const { createClient, PoterneError } = poterne
      const refused = (work) => work.then(() => 'none', (error) => error instanceof PoterneError && error.code)
      ;(async () => {
        const auth = createClient({ url, fetch })
        const lacking = [
          await refused(auth.startRedirect({ application: 'web' }, { redirectUri: 'app:/' })),
          await refused(auth.completeRedirect('app:/?state=1')),
          await refused(auth.signInWithPasskey()),
        ]
        return { uuid: await (async () => {${tour}})(), lacking, absent: [typeof URL, typeof crypto, typeof clearTimeout] }
      })()`,
      context,
    )) as { uuid: string; lacking: string[]; absent: string[] }
    expect(result).toEqual({
      uuid,
      lacking: ['unsupported', 'unsupported', 'unsupported'],
      absent: ['undefined', 'undefined', 'undefined'],
    })
  })
})

const bareFetch: NonNullable<Parameters<typeof CreateClient>[0]['fetch']> = (address, init) =>
  fetch(address, init)
