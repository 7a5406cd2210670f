/** Clients in other languages, as Debian has them: each signs somebody in, verifies the ID token and asks userinfo. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail } from '../../helpers/api-client.ts'
import { createCertificate } from '../../helpers/certificates.ts'
import { freePort } from '../../helpers/free-port.ts'
import { addressOf, entry, SECRET } from '../../helpers/hand-over.ts'
import { openBrowser, type PageBrowser } from '../../helpers/page-browser.ts'
import { endProcesses } from '../../helpers/processes.ts'
import { newDirectory } from '../../helpers/run-directory.ts'
import { startService, type TestService } from '../../helpers/service.ts'
import { waitFor } from '../../helpers/wait.ts'

setDefaultTimeout(180_000)

const programs: Record<string, { package: string; command: string[]; file: string }> = {
  authlib: { package: 'python3-authlib', command: ['/usr/bin/python3'], file: 'with_authlib.py' },
  'go-oidc': {
    package: 'golang-github-coreos-go-oidc-dev',
    command: ['go', 'run'],
    file: 'with_go_oidc.go',
  },
  omniauth: { package: 'ruby-omniauth-openid-connect', command: ['/usr/bin/ruby'], file: 'with_omniauth.rb' },
}
const apachePort = await freePort()
const apache = `http://127.0.0.1:${apachePort}`

let service: TestService
let front: Bun.Server<undefined>
let issuer = ''
let caFile = ''

beforeAll(async () => {
  // The programs know the address of the front, and its name is that of the request.
  const certificate = createCertificate()
  caFile = certificate.caFile
  front = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: certificate.key, cert: certificate.cert },
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      return fetch(service.url + pathname + search, new Request(request, { redirect: 'manual' }))
    },
  })
  const base_url = `https://localhost:${front.port}`
  issuer = `${base_url}/oauth2`
  service = await startService({
    settings: {
      server: { base_url, language: 'en' },
      pages: {
        enabled: true,
        applications: [
          ...Object.keys(programs).map((id) => entry(id)),
          entry('apache', {
            redirect_uris: [`${apache}/in/back`],
            backchannel_logout_uri: `${apache}/in/back?logout=backchannel`,
          }),
        ],
      },
    },
  })
})
afterAll(async () => {
  await Promise.all([front?.stop(true), service?.close()])
})

async function signedIn(): Promise<{ email: string; browser: PageBrowser }> {
  const { identifier: email, password } = await service.signUp(newEmail())
  const browser = await openBrowser(service.url, { host: new URL(issuer).host }).open('/sign-in')
  await browser.press('Sign in', { identifier: email, password })
  return { email, browser }
}

async function follow(browser: PageBrowser, to: string): Promise<string> {
  browser.left = null
  await browser.open(to.slice(new URL(issuer).origin.length))
  return browser.left ?? ''
}

test.each(Object.entries(programs))('%s', async (id, { package: name, command, file }) => {
  const { email, browser } = await signedIn()
  const program = Bun.spawn([...command, join(import.meta.dir, '../../helpers/openid-programs', file)], {
    env: {
      ...{ PATH: process.env.PATH, HOME: newDirectory('program') },
      ...{ SSL_CERT_FILE: caFile, REQUESTS_CA_BUNDLE: caFile },
      ...{ GO111MODULE: 'off', GOPATH: '/usr/share/gocode' },
      ...{ ISSUER: issuer, ID: id, SECRET, REDIRECT: addressOf(id) },
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const lines = program.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const { value: asked = '' } = await lines.read()
  if (!asked.startsWith(issuer))
    throw new Error(`${await new Response(program.stderr).text()}${name} is needed for a soak`)
  program.stdin.write(`${await follow(browser, asked.trim())}\n`)
  await program.stdin.end()
  const { value: said = '' } = await lines.read()
  expect(await new Response(program.stderr).text()).not.toMatch(/error/i)
  expect(JSON.parse(said)).toEqual({ email })
})

/** A page that is open to whoever signed in, and says who that is. */
function apacheSettings(directory: string): string {
  const modules = ['mpm_prefork', 'authn_core', 'authz_core', 'authz_user', 'headers', 'auth_openidc']
  return [
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    `Listen 127.0.0.1:${apachePort}`,
    `ServerName 127.0.0.1:${apachePort}`,
    `ServerRoot ${directory}`,
    `DocumentRoot ${directory}/pages`,
    'User www-data',
    'Group www-data',
    `PidFile ${directory}/pid`,
    `ErrorLog ${directory}/log`,
    `OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration`,
    'OIDCClientID apache',
    `OIDCClientSecret ${SECRET}`,
    `OIDCRedirectURI ${apache}/in/back`,
    'OIDCPKCEMethod S256',
    'OIDCScope "openid profile email groups"',
    'OIDCCryptoPassphrase "only for this test"',
    'OIDCSSLValidateServer Off',
    '<Location /in>',
    '  AuthType openid-connect',
    '  Require valid-user',
    '  Header set x-email "%{OIDC_CLAIM_email}e"',
    '</Location>',
  ].join('\n')
}

test('mod_auth_openidc, which is told when the session ends', async () => {
  if (!existsSync('/usr/lib/apache2/modules/mod_auth_openidc.so'))
    throw new Error('libapache2-mod-auth-openidc is needed for a soak')
  const { email, browser } = await signedIn()
  const directory = newDirectory('apache')
  // Apache runs as another user.
  chmodSync(directory, 0o755)
  mkdirSync(join(directory, 'pages/in'), { recursive: true })
  writeFileSync(join(directory, 'pages/in/page'), 'open')
  writeFileSync(join(directory, 'apache.conf'), apacheSettings(directory))
  Bun.spawn(['/usr/sbin/apache2', '-X', '-f', join(directory, 'apache.conf')], { cwd: directory })
  const jar = new Map<string, string>()
  const call = async (to: string) => {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const answer = await fetch(to, { redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    return answer
  }
  try {
    await waitFor(() => call(`${apache}/in/page`).catch(() => null), { what: 'Apache to listen' })
    jar.clear()
    const asked = (await call(`${apache}/in/page`)).headers.get('location') ?? ''
    await follow(browser, asked)
    // An address over http is asked about.
    await browser.open(/href="(\/oauth2\/continue[^"]*)"/.exec(browser.html)![1]!.replaceAll('&amp;', '&'))
    const back = await call(browser.left!)
    expect(back.headers.get('location')).toBe(`${apache}/in/page`)
    const page = () => call(`${apache}/in/page`)
    expect((await page()).headers.get('x-email')).toBe(email)
    await browser.post('/sign-out', {})
    await waitFor(async () => (await page()).status === 302, { what: 'the end of its session' })
  } finally {
    await endProcesses(directory, 10_000)
  }
})
