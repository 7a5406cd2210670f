/** The second steps that the preview draws are those that the service gives, and its recovery codes look like real ones. */
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { drawnCodes } from '../../../src/pages/preview/account-states.ts'
import { pageStates } from '../../../src/pages/preview/states.ts'
import { loadConfig } from '../../../src/platform/config/load.ts'
import { param, statement } from '../../../src/platform/postgres/database.ts'
import { createCatalog } from '../../../src/texts/catalog.ts'
import { type Protected, protectByApp, protectBySentCodes } from '../../helpers/authenticator.ts'
import { newClient } from '../../helpers/limited-service.ts'
import { pageSettings } from '../../helpers/page-browser.ts'
import { createPasskey } from '../../helpers/passkey-authenticator.ts'
import type { TestService } from '../../helpers/service.ts'
import { useLimited } from '../../helpers/use-service.ts'

const settings = { ...pageSettings, passkeys: { rp_id: 'auth.example.com' } }
const service = useLimited({ settings })
const withoutMail = useLimited({ settings: { ...settings, two_factor: { allow_email: false } } })

const dropApp = statement<{ email: string }>(sql`
  delete from totp_factors where account_id = (select id from accounts where email = ${param('email', 'text')})`)
const dropRecoveryCodes = statement<{ email: string }>(sql`
  delete from recovery_codes where account_id = (select id from accounts where email = ${param('email', 'text')})`)

async function addPasskey(at: TestService, { person, bearer, recoveryCodes }: Protected): Promise<void> {
  const proof = { password: person.password, otp: recoveryCodes[0] }
  const { body } = await at.post('passkeys/registration/options', proof, { bearer })
  const { credential } = createPasskey(body.options, 'https://auth.example.com')
  expect((await at.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
}

async function methodsOf(at: TestService, { person }: Protected): Promise<string> {
  const { status, body } = await at.post('login', person, newClient())
  expect(status).toBe(202)
  return body.two_factor.methods.join(' ')
}

/** Every second step that somebody can be given. */
async function givenMethods(): Promise<string[]> {
  const given: string[] = []
  const note = async (at: TestService, owner: Protected) => void given.push(await methodsOf(at, owner))
  const withApp = await protectByApp(service)
  await note(service, withApp)
  await addPasskey(service, withApp)
  await note(service, withApp)
  const byMail = await protectBySentCodes(service)
  // Somebody with the password is sent ten codes a day.
  for (let n = 0; n < 11; n++) await note(service, byMail)
  await service.inside.database.all(dropRecoveryCodes, { email: byMail.person.identifier })
  await note(service, byMail)
  const withPasskey = await protectByApp(withoutMail)
  await addPasskey(withoutMail, withPasskey)
  await withoutMail.inside.database.all(dropApp, { email: withPasskey.person.identifier })
  await note(withoutMail, withPasskey)
  return given
}

test('each list of methods that is drawn is one that the service gives', async () => {
  const loaded = loadConfig({ env: {}, directory: '/', mustDeliver: false })
  if (!loaded.ok) throw new Error('the defaults are valid')
  const states = pageStates(loaded.config, createCatalog({ language: 'en' }), 'Example')
  const drawn = states.flatMap(({ flow }) => (flow?.methods ? [flow.methods.join(' ')] : []))
  const given = await givenMethods()
  expect([...new Set(drawn)].filter((methods) => !given.includes(methods))).toEqual([])
  expect([...new Set(given)].filter((methods) => !drawn.includes(methods))).toEqual([])
})

test('the recovery codes that are drawn have the form and the number of real ones', async () => {
  const form = (list: readonly string[]) => list.map((code) => code.replaceAll(/[0-9A-Z]/g, 'x'))
  expect(form(drawnCodes)).toEqual(form((await protectByApp(service)).recoveryCodes))
})
