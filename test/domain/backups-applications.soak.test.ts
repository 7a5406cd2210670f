/** What a restore keeps of applications: their sessions, the key of their ID tokens, and that they are told of an end. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { runPoterne } from '../helpers/executable.ts'
import {
  basic,
  codeFor,
  entry,
  redeemBySecret,
  refreshBySecret,
  signedInBrowser,
  userinfo,
} from '../helpers/hand-over.ts'
import { pageSettings } from '../helpers/page-browser.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { mergeSettings, type Settings, startService, writeSettings } from '../helpers/service.ts'
import { openToldApplication } from '../helpers/told-application.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(90_000)

const told = openToldApplication()
afterAll(told.close)

test('a restore that keeps sessions keeps those of applications, and all of them', async () => {
  const settings = mergeSettings(pageSettings, {
    pages: { enabled: true, applications: [entry('grafana', { backchannel_logout_uri: told.address })] },
  })
  const file = join(newDirectory('backup'), 'auth.backup')
  const run = async (args: string[], storage: Settings) => {
    const { directory, file: config } = writeSettings(storage)
    const { code, error } = await runPoterne([...args, '--config', config], { directory })
    expect([code, error]).toEqual([0, ''])
  }
  const keysOf = async (url: string) =>
    ((await (await fetch(`${url}/oauth2/jwks`)).json()) as { keys: object[] }).keys

  await using service = await startService({ shape: 'postgres', settings })
  const { browser } = await signedInBrowser(service)
  const code = await codeFor(browser, 'grafana', { scope: 'openid offline_access' })
  const { access_token, refresh_token } = (await redeemBySecret(service, 'grafana', code)).body
  const keys = await keysOf(service.url)
  await run(['backup', file], service.storage)

  const { url } = await createDatabase({ migrated: false })
  const target: Settings = { ...service.storage, database: { url } }
  await run(['restore', file, '--keep-sessions'], target)
  await using restored = await startService({ shape: 'postgres', settings, storage: target })
  expect(await keysOf(restored.url)).toEqual(keys)
  expect((await userinfo(restored, access_token)).status).toBe(200)
  const refreshed = await refreshBySecret(restored, 'grafana', refresh_token)
  expect([refreshed.status, refreshed.body.refresh_token]).toEqual([200, refresh_token])
  const body = new URLSearchParams({ token: refresh_token })
  await fetch(`${restored.url}/oauth2/revoke`, { method: 'POST', headers: basic('grafana'), body })
  const sid = decodeJwt(refreshed.body.id_token).sid as string
  await waitFor(() => told.of(sid).length === 1, { what: 'the application to be told' })
})
