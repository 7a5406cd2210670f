/** The values that [pages] may have, and the messages about wrong ones. */
import { afterAll, describe, expect, test } from 'bun:test'
import { loadConfig } from '../../src/platform/config/load.ts'
import { createConfigDirectory } from '../helpers/config.ts'

const directory = createConfigDirectory()
afterAll(directory.remove)

const host = '[server]\nbase_url = "https://auth.example.com"\n'
const pages = (lines = '') => `[pages]\nenabled = true\n${lines}\n`

function problemsOf(toml: string, dev = false): string[] {
  directory.write('config.toml', toml)
  return directory.problemsOf({ dev })
}

describe('the address of the pages', () => {
  test.each(['', '[server]\nbase_url = "http://auth.internal"\n'])('%j is refused', (server) => {
    expect(problemsOf(server + pages())).toEqual([
      expect.stringMatching(/^server\.base_url.*: must be an https address with pages\.enabled/),
    ])
    expect(problemsOf(server)).toEqual([])
  })

  test('https is taken, and --dev needs none', () => {
    expect(problemsOf(host + pages())).toEqual([])
    expect(problemsOf(pages(), true)).toEqual([])
    expect(problemsOf('', true)).toEqual([])
    expect(directory.configOf({ dev: true }).pages.enabled).toBe(true)
  })

  test.each([
    ['rp_id = "auth.example.com"', true],
    ['rp_id = "example.com"\norigins = ["https://auth.example.com"]', true],
    ['rp_id = "example.com"\norigins = ["https://app.example.com"]', false],
    // Without origins the relying party itself is the only one.
    ['rp_id = "example.com"', false],
  ])('with passkeys for %j: taken %p', (passkeys, isTaken) => {
    const problem =
      'passkeys.origins: expected "https://auth.example.com" among them: with pages.enabled people use passkeys there'
    expect(problemsOf(`${host}[passkeys]\n${passkeys}\n${pages()}`)).toEqual(isTaken ? [] : [problem])
  })
})

describe('the ways out', () => {
  test.each([
    ['https://app.example.com/', true],
    ['https://app.example.com/in/*', true],
    ['https://app.example.com/*', true],
    ['http://127.0.0.1:3000/', true],
    ['https://app.example.com', false],
    ['https://app.example.com*', false],
    ['https://app.example.com/in*', false],
    ['https://*.example.com/', false],
    ['https://app.example.com/in/*/x', false],
    ['https://app.example.com/?x=/*', false],
    ['https://app.example.com/#x', false],
    ['https://me:pw@app.example.com/', false],
    ['http://app.example.com/', false],
    ['javascript:alert(1)', false],
  ])('return_to = %j: taken %p', (entry, isTaken) => {
    expect(problemsOf(host + pages(`return_to = [${JSON.stringify(entry)}]`))).toHaveLength(isTaken ? 0 : 1)
  })

  test.each(['home', 'help', 'terms', 'privacy'])('%s is an https address', (key) => {
    expect(problemsOf(host + pages(`${key} = "https://app.example.com/x"`))).toEqual([])
    expect(problemsOf(host + pages(`${key} = "javascript:alert(1)"`))[0]).toStartWith(`pages.${key}`)
  })
})

describe('the applications', () => {
  const application = (lines: string) =>
    `[[pages.applications]]\nname = "Example"\n${lines.includes('id =') ? '' : 'id = "web"\n'}${lines}\n`
  const refused = (lines: string, dev = false) =>
    problemsOf(`${dev ? '' : host}${pages()}${application(lines)}`, dev)

  test.each([
    ['web', true],
    ['com.example.app_2', true],
    ['w', false],
    ['a b', false],
    ['0192f2c3-1111-7222-8333-444455556666', false],
  ])('id = %j: taken %p', (id, isTaken) => {
    expect(refused(`id = "${id}"\nredirect_uris = ["https://app.example.com/in"]`)).toHaveLength(
      isTaken ? 0 : 1,
    )
  })

  test('an id names one of them', () => {
    const two = application('redirect_uris = []').repeat(2)
    const problem = 'pages.applications[1].id: "web" is already the id of another one'
    expect(problemsOf(host + pages() + two)).toEqual([problem])
    expect(problemsOf(pages() + two, true)).toEqual([problem])
  })

  test.each([
    ['https://app.example.com/in', true],
    ['http://127.0.0.1/in', true],
    ['http://[::1]/in', true],
    ['com.example.app:/in', true],
    ['http://localhost:3000/in', false],
    ['http://app.localhost/in', false],
    ['http://app.example.com/in', false],
    ['myapp:/in', false],
    ['https://app.example.com/in#x', false],
    ['javascript:alert(1)', false],
    ['https://app.example.com/\\nin', false],
    ['https://app.example.com/été', false],
  ])('redirect_uris = [%j]: taken %p', (uri, isTaken) => {
    expect(refused(`redirect_uris = ["${uri}"]`)).toHaveLength(isTaken ? 0 : 1)
    expect(refused(`sign_out_uris = ["${uri}"]`)).toHaveLength(isTaken ? 0 : 1)
  })

  test('localhost is taken with --dev', () => {
    expect(refused('redirect_uris = ["http://localhost:3000/in"]', true)).toEqual([])
  })

  test('an origin that may not call the interface is warned of', () => {
    const warningsWith = (origins: string, dev = false) => {
      const uris =
        'redirect_uris = ["https://app.example.com/in", "https://app.example.com/x", "a.b:/c", "http://127.0.0.1/in"]'
      directory.write(
        'config.toml',
        `${dev ? '[server]\n' : host}cors_origins = ${origins}\n${pages()}${application(uris)}`,
      )
      const loaded = loadConfig({ env: {}, directory: directory.path, mustDeliver: false, dev })
      return loaded.ok && loaded.warnings.map(({ key, message }) => `${key}: ${message}`)
    }
    expect(warningsWith('[]')).toEqual([
      'server.cors_origins: lacks "https://app.example.com" of pages.applications: an application that runs in the browser there cannot call GET me. One whose pages a server draws needs nothing here',
    ])
    expect(warningsWith('["https://app.example.com"]')).toEqual([])
    expect(warningsWith('["https://app.example.com"]', true)).toEqual([])
  })
})

describe('applications for OpenID', () => {
  const uris = 'redirect_uris = ["https://app.example.com/in"]'
  const entry = (lines: string) => `[[pages.applications]]\nid = "web"\nname = "Example"\n${uris}\n${lines}\n`
  const other = 'own = false\ngroups = ["staff"]'
  const HASH = 'aB'.repeat(32)

  test.each([
    ['own = true', null],
    [other, null],
    ['own = false\ngroups = ["*"]', null],
    ['own = 1', 'own'],
    ['own = false', 'groups'],
    ['own = false\ngroups = []', 'groups'],
    ['own = true\ngroups = ["staff"]', 'groups'],
    ['own = false\ngroups = ["*", "staff"]', 'groups'],
    ['own = false\ngroups = ["Staff"]', 'groups'],
    [`secret_sha256 = ["${HASH}"]`, 'secret_sha256'],
    ['groups = ["staff"]', 'groups'],
    ['two_factor = false', 'two_factor'],
    ['claims = {}', 'claims'],
    ['backchannel_logout_uri = ""', 'backchannel_logout_uri'],
    [`own = true\nsecret_sha256 = ["${HASH}", "${'0'.repeat(64)}"]`, null],
    [`own = true\nsecret_sha256 = ["${HASH}", "${HASH}", "${HASH}"]`, 'secret_sha256'],
    ['own = true\nsecret_sha256 = ["abc"]', 'secret_sha256'],
    [`${other}\nclaims = { groups = { from = "groups" }, tenant = { value = "acme" } }`, null],
    [`${other}\nclaims = { email = { value = "x" } }`, 'claims'],
    [`${other}\nclaims = { nonce = { value = "x" } }`, 'claims'],
    [`${other}\nbackchannel_logout_uri = "https://app.example.com/out?x=1"`, null],
    [`${other}\nbackchannel_logout_uri = "http://app.lan/out"`, null],
    [`${other}\nbackchannel_logout_uri = "http://app.example.com/out"`, 'backchannel_logout_uri'],
    [`${other}\nbackchannel_logout_uri = "https://app.example.com/out#x"`, 'backchannel_logout_uri'],
    [`${other}\nbackchannel_logout_uri = "com.example.app:/out"`, 'backchannel_logout_uri'],
  ])('%s: wrong %p', (lines, key) => {
    for (const dev of [false, true]) {
      const problems = problemsOf(`${dev ? '' : host}${dev ? '' : pages()}${entry(lines)}`, dev)
      expect(problems.map((problem) => problem.split(/:| = /)[0])).toEqual(
        key === null ? [] : [`pages.applications[0].${key}`],
      )
    }
  })

  test('http in the network of the operator is for applications of others, and warned of', () => {
    const warningsWith = (lines: string) => {
      directory.write('config.toml', host + pages() + entry(lines))
      const loaded = loadConfig({ env: {}, directory: directory.path, mustDeliver: false })
      if (!loaded.ok) return loaded.problems.map(({ key }) => key)
      return loaded.warnings.map(({ key, message }) => `${key}: ${message}`)
    }
    const near = ['http://localhost:3000/in', 'http://grafana.lan/in', 'http://10.0.0.7:3000/in']
    const with_ = (lines: string) => lines.replace('own', `sign_out_uris = ${JSON.stringify(near)}\nown`)
    expect(warningsWith(with_(other))).toEqual(
      near.map((uri) => expect.stringContaining(`pages.applications[0].sign_out_uris: holds "${uri}"`)),
    )
    expect(warningsWith(with_('own = true'))).toContain('pages.applications[0].sign_out_uris')
    expect(warningsWith('own = false\ngroups = ["*"]')).toEqual([
      expect.stringContaining('pages.applications[0].groups: is every account, and everybody may register'),
    ])
    expect(warningsWith(`own = true\nsecret_sha256 = ["${HASH}"]`)).toEqual([])
    expect(warningsWith('own = true')).toEqual([expect.stringContaining('server.cors_origins')])
  })
})

describe('the logo', () => {
  const logo = (content: string | Uint8Array) => {
    directory.write('logo', content)
    return problemsOf(host + pages('logo = "logo"'))
  }
  const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`

  test('an SVG and a PNG are taken, beside the configuration file', () => {
    expect(logo(svg('<path d="M0 0h1"/>'))).toEqual([])
    expect(directory.configOf().pages.logoFile?.type).toBe('image/svg+xml')
    expect(logo(Buffer.from('89504e470d0a1a0a00', 'hex'))).toEqual([])
    expect(directory.configOf().pages.logoFile?.type).toBe('image/png')
  })

  test.each([
    ['<script>alert(1)</script>'],
    ['<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>'],
    ['<path onload="alert(1)"/>'],
    ['<foreignObject><b/></foreignObject>'],
    ['<h:iframe xmlns:h="http://www.w3.org/1999/xhtml" src="https://evil.example"/>'],
    ['<a href="javascript:alert(1)"/>'],
    ['<a href="&#106;&#x61;vascript:alert(1)"/>'],
  ])('an SVG with %s is refused', (inside) => {
    expect(logo(svg(inside))).toEqual([
      expect.stringContaining('the SVG holds script, which a logo must not'),
    ])
  })

  test('an entity, another kind of picture, too many bytes and no file are refused', () => {
    expect(logo(`<!DOCTYPE svg [<!ENTITY x "y">]>${svg('&x;')}`)).toHaveLength(1)
    expect(logo('GIF89a')).toEqual([expect.stringContaining('expected a picture in SVG or PNG')])
    expect(logo(svg(' '.repeat(100_000)))).toEqual([expect.stringContaining('expected at most 100 kB')])
    expect(problemsOf(host + pages('logo = "none.svg"'))).toEqual([
      expect.stringContaining('there is no such file'),
    ])
    expect(problemsOf(host + pages('logo = "."'))).toEqual([expect.stringContaining('expected a file')])
  })
})
