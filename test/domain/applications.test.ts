/** The applications of the configuration, as administration and `poterne apps` show them, and what they were refused. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { asOperator } from '../helpers/administration.ts'
import { runPoterne } from '../helpers/executable.ts'
import {
  basic,
  codeFor,
  entry,
  openIdAddress,
  REDIRECT,
  redeemBySecret,
  signedInBrowser,
  token,
} from '../helpers/hand-over.ts'
import { openBrowser, pageSettings } from '../helpers/page-browser.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { mergeSettings, writeSettings } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

setDefaultTimeout(30_000)

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: {
    enabled: true,
    applications: [
      { id: 'web', name: 'Web', redirect_uris: [REDIRECT] },
      entry('grafana', { backchannel_logout_uri: 'https://grafana.example.com/out' }),
      entry('staff', { groups: ['staff'] }),
      entry('team', { own: true, groups: [] }),
    ],
  },
}
const LINE = 'an application was refused'

describe('the applications of the configuration', () => {
  const service = useService({ shape: 'postgres', settings })
  const show = async (id: string) => (await asOperator(service, 'GET', `applications/${id}`)).body.application
  const lines = () => service.log.filter((line) => line.includes(LINE)).map((line) => JSON.parse(line))

  test('are listed with their issuers, and with the sessions that live', async () => {
    const { browser, person } = await signedInBrowser(service)
    const { body } = await redeemBySecret(service, 'grafana', await codeFor(browser, 'grafana'))
    expect(body.access_token).toBeString()
    const { items } = (await asOperator(service, 'GET', 'applications')).body
    const [issuer, own] = ['https://auth.example.com/oauth2', { own: true, groups: [] }]
    expect(items).toEqual([
      {
        id: 'grafana',
        name: expect.any(String),
        issuer,
        own: false,
        public: false,
        groups: ['*'],
        sessions: 1,
      },
      {
        id: 'staff',
        name: expect.any(String),
        issuer,
        own: false,
        public: false,
        groups: ['staff'],
        sessions: 0,
      },
      { id: 'team', name: expect.any(String), issuer, public: false, sessions: 0, ...own },
      { id: 'web', name: 'Web', issuer: 'https://auth.example.com', public: true, sessions: 0, ...own },
    ])
    const { access_token } = await service.logIn(person)
    await service.post('logout-all', {}, { bearer: access_token })
    expect((await show('grafana')).sessions).toBe(0)
    expectRefusal(await asOperator(service, 'GET', 'applications/nobody'), 'application_not_found')
  })

  test('show what they were refused, newest first and twenty at most, and nothing that was sent', async () => {
    const { browser } = await signedInBrowser(service)
    const secret = 'a-secret-that-is-wrong-and-long-enough-for-one'
    await token(service, { grant_type: 'authorization_code', code: 'zz' }, basic('staff', secret))
    await browser.open(openIdAddress('staff', { redirect_uri: 'https://staff.example.com/other' }))
    await browser.open(openIdAddress('staff', { response_mode: 'fragment' }))
    await browser.open(openIdAddress('staff'))
    const { refusals, redirect_uris, backchannel_logout_uri } = await show('staff')
    expect(refusals.map(({ error, reason }: { error: string; reason: string }) => [error, reason])).toEqual([
      ['access_denied', 'this account may not enter'],
      ['invalid_request', 'response_mode must be query'],
      ['invalid_request', 'redirect_uri_differs'],
      ['invalid_client', 'secret_wrong'],
    ])
    expect(refusals[2].nearest).toBe(redirect_uris[0])
    expect(backchannel_logout_uri).toBeNull()
    expect(
      lines()
        .slice(-4)
        .map(({ application, level }) => [application, level]),
    ).toEqual(Array.from({ length: 4 }, () => ['staff', 'warn']))
    for (const line of service.log) for (const sent of [secret, 'zz"']) expect(line).not.toContain(sent)
    for (let count = 0; count < 21; count++)
      await token(service, { grant_type: 'password' }, basic('staff', secret))
    expect((await show('staff')).refusals).toHaveLength(20)
    // Another one's list is its own.
    expect((await show('team')).refusals).toEqual([])
  })

  test('strangers cannot fill the log, nor take the lines of known applications', async () => {
    service.clock.advance(60_000 - (service.clock.now().getTime() % 60_000))
    const before = lines().length
    const stranger = openBrowser(service.url)
    for (let count = 0; count < 35; count++) await stranger.open(openIdAddress(`invented-${count}`))
    expect(lines().length - before).toBe(30)
    for (let count = 0; count < 35; count++)
      await stranger.open(openIdAddress('team', { response_mode: 'x' }))
    expect(lines().length - before).toBe(60)
    expect(
      lines().every(({ application }) => application === null || /^(team|staff)$/.test(application)),
    ).toBe(true)
  })
})

test('poterne apps lists and shows them, and makes a secret with its line', async () => {
  const { directory, file } = writeSettings(mergeSettings(settings, { server: { port: 0 } }))
  const made = await runPoterne(['apps', 'secret'], { directory })
  const [secret = '', line] = made.out.split('\n')
  expect(secret).toMatch(/^pot_app_[0-9A-Za-z]{28}$/)
  expect(line).toBe(`secret_sha256 = ["${createHash('sha256').update(secret).digest('hex')}"]`)
  const help = await runPoterne(['apps', '--help'], { directory })
  expect(help.out).toContain('show')
  expect(file).toBeString()
})
