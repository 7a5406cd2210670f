/** The application of docs/client-package.md whose pages are made on the server, as it is printed: people sign in and out by its routes. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'
import { cookieStorage } from '../../src/client/server.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService({ shape: 'redis' })
const page = readFileSync(join(import.meta.dir, '../../docs/client-package.md'), 'utf8')
const section = page.slice(page.indexOf('### An application whose pages'))
const [client = '', routes = ''] = [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = '']) => text)

type Context = ReturnType<typeof newContext>
type Handler = (context: Context) => Promise<string>

/** What the sample uses of Hono. */
function newContext(jar: Map<string, string>, body: Record<string, string>) {
  return {
    jar,
    req: { header: () => 'fr', parseBody: async () => body, url: 'http://localhost:3000/signed-in' },
    html: (text: string) => text,
    redirect: (to: string) => `to ${to}`,
  }
}

/** The routes of the sample, as calls of one browser. */
function newBrowser() {
  const handlers: Record<string, Handler> = {}
  const values = {
    createClient,
    cookieStorage,
    process: { env: { COOKIE_SECRET: 'the secret of the application, 32 characters' } },
    getCookie: ({ jar }: Context, name: string) => jar.get(name),
    setCookie: ({ jar }: Context, name: string, value: string) => jar.set(name, value),
    getConnInfo: () => ({ remote: { address: '203.0.113.9' } }),
    app: {
      get: (path: string, handler: Handler) => (handlers[`GET ${path}`] = handler),
      post: (path: string, handler: Handler) => (handlers[`POST ${path}`] = handler),
    },
    homePage: ({ email }: { email: string }) => `Hello ${email}`,
    signInPage: () => 'Sign in',
    codePage: (twoFactor: string) => twoFactor,
    redirectUri: 'http://localhost:3000/signed-in',
  }
  const code = `${client}\n${routes}`
    .replace(/^import .*$/gm, '')
    .replace('https://auth.example.com', service.url)
  new Function(...Object.keys(values), code)(...Object.values(values))
  const jar = new Map<string, string>()
  return (route: string, body: Record<string, string> = {}) => handlers[route]!(newContext(jar, body))
}

test('people sign in, are known, and sign out', async () => {
  const email = newEmail()
  await service.signUp(email)
  const call = newBrowser()
  expect(await call('GET /')).toBe('Sign in')
  await expect(call('POST /sign-in', { identifier: email, password: 'wrong' })).rejects.toThrow('incorrect')
  expect(await call('POST /sign-in', { identifier: email, password: PASSWORD })).toBe('to /')
  expect(await call('GET /')).toBe(`Hello ${email}`)
  expect(await call('POST /sign-out')).toBe('to /')
  expect(await call('GET /')).toBe('Sign in')
  expect(await call('GET /hosted')).toStartWith(`to ${service.url}/oauth2/authorize?`)
})
