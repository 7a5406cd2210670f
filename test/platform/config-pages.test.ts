/** The commented example and the page about the configuration are true to the table they are made from. */
import { afterAll, expect, test } from 'bun:test'
import { configExample, configPage } from '../../src/platform/config/example.ts'
import { sections } from '../../src/platform/config/schema.ts'
import { createConfigDirectory } from '../helpers/config.ts'

const directory = createConfigDirectory()
const { write, configOf } = directory
afterAll(directory.remove)

const switchedOn = () => configExample().replace(/^#(?=[a-z[])/gm, '')
const env = {
  SERVER_SECRET: 'ab'.repeat(32),
  DATABASE_PASSWORD: 'p',
  SMTP_PASSWORD: 'p',
  ACME_TOKEN: 't',
  GOOGLE_CLIENT_SECRET: 's',
  APP_HOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
  APP_HOOK_SECRET_BEFORE: `whsec_${Buffer.alloc(64).toString('base64')}`,
}

test('the example as it stands is valid and sets nothing but a mail server', () => {
  const { smtp: none, ...defaults } = configOf({ env: { POTERNE_CONFIG: write('empty.toml', '') } })
  write('config.toml', configExample())
  const { smtp, ...rest } = configOf({ mustDeliver: true })
  expect(none).toBeNull()
  expect(smtp?.host).toBe('smtp.example.com')
  expect(rest).toEqual(defaults)
})

test('the example with every setting switched on is valid', () => {
  write('config.toml', switchedOn())
  // The files of texts that it names are on the operator's machine.
  const config = configOf({ env, mustDeliver: true, readTexts: false })
  expect(config.smtp?.host).toBe('smtp.example.com')
  expect(config.sms.gateways[0]?.headers).toEqual({ authorization: 'Bearer t' })
  expect(config.social.providers[0]?.preset).toBe('google')
})

test('the example and the page name every key', () => {
  const all = Object.values(sections).flatMap(({ keys, lists }) => [
    keys,
    ...Object.values(lists).map((list) => list.keys),
  ])
  for (const key of all.flatMap((keys) => Object.keys(keys))) {
    expect(configExample()).toMatch(new RegExp(`^(?:# ?)?${key} = `, 'm'))
    expect(configPage()).toContain(`| \`${key}\` |`)
  }
})
