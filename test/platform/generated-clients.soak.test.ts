/** Clients that well-known generators make of docs/openapi.json: they compile strictly, and work with a real service. */
import { beforeAll, expect, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail, type Person } from '../helpers/api-client.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { useService } from '../helpers/use-service.ts'

const root = join(import.meta.dir, '../..')
const page = join(root, 'docs/openapi.json')
const modules = join(root, 'node_modules')

interface Client {
  name: string
  /** The command that makes it, run in its directory. */
  generator: (url: string) => string
  /** Signs in, asks for the account, and prints its e-mail address and the code of a wrong password. */
  program: (url: string, person: Person) => string
}

const text = (value: unknown) => JSON.stringify(value)

const clients: Client[] = [
  {
    name: 'openapi-typescript with openapi-fetch',
    generator: () => `
      import openapi, { astToString } from 'openapi-typescript'
      await Bun.write('api.ts', astToString(await openapi(new URL(${text(`file://${page}`)}))))`,
    program: (url, person) => `
      import createClient from 'openapi-fetch'
      import type { components, paths } from './api'
      type Account = components['schemas']['Account']
      const { POST, GET } = createClient<paths>({ baseUrl: ${text(url)} })
      const { data } = await POST('/api/v1/auth/login', { body: ${text(person)} })
      if (data?.status !== 200) throw new Error('no session')
      const headers = { authorization: 'Bearer ' + data.access_token }
      const me = await GET('/api/v1/auth/me', { headers })
      const account: Account | undefined = me.data?.account
      const wrong = await POST('/api/v1/auth/login', { body: { ...${text(person)}, password: 'wrong' } })
      const code: 'invalid_credentials' | undefined = wrong.error && 'code' in wrong.error && wrong.error.code === 'invalid_credentials' ? wrong.error.code : undefined
      console.log(account?.email, code)`,
  },
  {
    name: '@hey-api/openapi-ts',
    generator: () => `
      import { createClient } from '@hey-api/openapi-ts'
      await createClient({
        input: ${text(page)}, output: './api', logs: { level: 'silent' },
        plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
      })`,
    program: (url, person) => `
      import { type Account, getAccount, logIn } from './api'
      import { client } from './api/client.gen'
      client.setConfig({ baseUrl: ${text(url)} })
      const { data } = await logIn({ body: ${text(person)} })
      if (data?.status !== 200) throw new Error('no session')
      const me = await getAccount({ auth: data.access_token })
      const account: Account | undefined = me.data?.account
      const wrong = await logIn({ body: { ...${text(person)}, password: 'wrong' } })
      console.log(account?.email, wrong.error?.code)`,
  },
  {
    name: 'orval',
    generator: (url) => `
      import { generate } from 'orval'
      await generate({
        input: { target: ${text(page)} },
        output: { target: './api.ts', client: 'fetch', baseUrl: ${text(url)} },
      })`,
    program: (_, person) => `
      import { type Account, getAccount, logIn } from './api'
      const answer = await logIn(${text(person)})
      if (answer.status !== 200) throw new Error('no session')
      const me = await getAccount({ headers: { authorization: 'Bearer ' + answer.data.access_token } })
      const account: Account | undefined = me.status === 200 ? me.data.account : undefined
      const wrong = await logIn({ ...${text(person)}, password: 'wrong' })
      console.log(account?.email, wrong.status === 401 ? wrong.data.code : undefined)`,
  },
]

const service = useService({ shape: 'postgres' })
let person: Person
beforeAll(async () => {
  person = await service.signUp(newEmail())
})

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${out}${error}`)
  return out
}

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  target: 'esnext',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['esnext', 'dom', 'dom.iterable'],
  types: [],
}

/** Each takes some fifteen seconds of a processor. */
test.concurrent.each(clients)('$name generates, compiles strictly and works', async (client) => {
  const directory = newDirectory('client')
  symlinkSync(modules, join(directory, 'node_modules'))
  await Bun.write(join(directory, 'generate.ts'), client.generator(service.url))
  await run([process.execPath, 'generate.ts'], directory)
  await Bun.write(join(directory, 'program.ts'), client.program(service.url, person))
  await Bun.write(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['program.ts'] }),
  )
  await run([process.execPath, join(modules, 'typescript-7/bin/tsc'), '-p', '.'], directory)
  expect(await run([process.execPath, 'program.ts'], directory)).toContain(
    `${person.identifier} invalid_credentials`,
  )
})
