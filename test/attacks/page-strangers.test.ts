/** Strangers at the forms of the pages, with limits on: who has an account is not told, and an owner always gets in. */
import { describe, expect, test } from 'bun:test'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { lockAccount } from '../helpers/database.ts'
import {
  authorizeAddress,
  newVerifier,
  parametersOf,
  REDIRECT,
  signedInBrowser,
} from '../helpers/hand-over.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { openBrowser, pageSettings } from '../helpers/page-browser.ts'
import { type PageForm, pageForms, seenOf } from '../helpers/page-forms.ts'
import { reduced } from '../helpers/soak.ts'
import { useLimited } from '../helpers/use-service.ts'

const HOUR = 3_600_000
const service = useLimited({
  settings: {
    ...pageSettings,
    server: { ...pageSettings.server, language: 'en' },
    limits: { codes_per_day: 10_000 },
    pages: {
      enabled: true,
      applications: ['web', 'other'].map((id) => ({ id, name: id, redirect_uris: [REDIRECT] })),
    },
  },
})

/** All of one length: a flow holds what was typed. */
const newAddress = () => `${crypto.randomUUID()}@example.com`

const addressed = (client: ReturnType<typeof newClient>) => client.headers as Record<string, string>

describe('what a form shows', () => {
  /** Nobody, an account, one that waits for its confirmation, a locked one, one with two factors. */
  async function everybody(): Promise<[kind: string, identifier: string][]> {
    const [nobody, confirmed, waiting, locked, guarded] = Array.from({ length: 5 }, newAddress) as [
      string,
      string,
      string,
      string,
      string,
    ]
    await service.signedIn(confirmed)
    await service.post('register', registration(waiting), newClient())
    await service.signedIn(locked)
    await lockAccount(service, locked, new Date())
    await protectBySentCodes(service, guarded)
    service.clock.advance(HOUR)
    return Object.entries({ nobody, confirmed, waiting, locked, guarded })
  }

  async function answersTo(form: PageForm, identifier: string): Promise<unknown[]> {
    const headers = addressed(newClient())
    const answers: Awaited<ReturnType<typeof seenOf>>[] = []
    const isWhole = form.untilRefused <= reduced(11, 21)
    for (let call = 0; call < (isWhole ? form.untilRefused : 3); call++) {
      answers.push(await seenOf(service.url, form, identifier, headers))
    }
    const limited = answers.map(({ said }) => said.includes('Too many tries'))
    expect(limited).toEqual([...Array(answers.length - 1).fill(false), isWhole])
    return answers
  }

  test.each(pageForms)(
    '$path: the same for everybody, call after call, and when a limit answers',
    async (form) => {
      const shown: [string, unknown[]][] = []
      for (const [kind, identifier] of await everybody())
        shown.push([kind, await answersTo(form, identifier)])
      const [[, expected] = ['', []]] = shown
      for (const [kind, answers] of shown) expect([kind, answers]).toEqual([kind, expected])
    },
  )
})

test('what strangers send by every form refuses nothing to an owner who uses only the pages', async () => {
  const { identifier } = await service.signUp(newEmail())
  const browser = openBrowser(service.url, { headers: addressed(newClient()) })
  const signIn = async () => {
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password: PASSWORD })
    expect([browser.path, browser.said]).toEqual(['/account', ''])
    await browser.post('/sign-out', {})
  }
  await signIn()
  for (let call = 0; call < reduced(120, 1200); call++) {
    const form = pageForms[call % pageForms.length] as PageForm
    const { status, path } = await seenOf(
      service.url,
      form,
      identifier,
      addressed(from(`203.0.113.${call % 40}`)),
    )
    expect([status, path === '/account']).toEqual([303, false])
    if (call % 30 === 29) await signIn()
  }
})

test('an application that sends a browser again and again stops only itself', async () => {
  const { browser } = await signedInBrowser(service)
  async function sends(client_id: string): Promise<boolean> {
    browser.left = null
    await browser.open(authorizeAddress(newVerifier(), { client_id }))
    return parametersOf(browser).has('code')
  }
  const given: boolean[] = []
  for (let count = 0; count < 61; count++) given.push(await sends('web'))
  expect(given).toEqual([...Array(60).fill(true), false])
  expect(await sends('other')).toBe(true)
})
