/** The services whose pages are shown in every state, and the people who walk through them in one language. */
import { sql } from 'drizzle-orm'
import { param, statement } from '../../../src/platform/postgres/database.ts'
import { newEmail, PASSWORD, registration } from '../api-client.ts'
import { entry, REDIRECT } from '../hand-over.ts'
import { newClient, startLimited } from '../limited-service.ts'
import { openBrowser, PAGE_HOST, type PageBrowser } from '../page-browser.ts'
import { createPasskey } from '../passkey-authenticator.ts'
import { type PretendProvider, startPretendProvider } from '../pretend-provider.ts'
import { mergeSettings, type Settings, startService, type TestService } from '../service.ts'

export const ORIGIN = `https://${PAGE_HOST}`
export const TERMS = '2026-01'

const shared: Settings = {
  server: { base_url: ORIGIN, language: 'en' },
  texts: { support: 'support@example.com' },
  pages: {
    enabled: true,
    name: 'Acme Cloud',
    help: 'https://www.example.com/help',
    terms: 'https://www.example.com/terms',
    privacy: 'https://www.example.com/privacy',
  },
}

const providers = (issuer: string): Settings => ({
  social: {
    providers: ['google', 'apple'].map((name) => ({
      ...{ name, issuer, client_id: 'poterne', client_secret: 'hunterTwo', authoritative_for: ['*'] },
    })),
  },
})

const applications = [
  {
    id: 'web',
    name: 'Example',
    redirect_uris: [REDIRECT, 'http://127.0.0.1/signed-in', 'com.example.app:/in'],
  },
  entry('grafana'),
  entry('payroll', { groups: ['finance'] }),
  entry('ledger', { two_factor: true }),
]

export interface World {
  /** It offers everything. */
  full: TestService
  /** A form with two fields, and no account for strangers. */
  simple: TestService
  /** Accounts may be without a password; codes of the second step are not sent by mail. */
  optional: TestService
  /** It counts. */
  limited: TestService
  provider: PretendProvider
  close(): Promise<void>
}

/** `brand`: the name, colour and logo of the pages. */
export async function startWorld(brand: Settings = {}): Promise<World> {
  const provider = await startPretendProvider()
  const start = (...settings: Settings[]) =>
    startService({ settings: mergeSettings(shared, ...settings, brand) })
  const everything: Settings = {
    passkeys: { rp_id: PAGE_HOST },
    two_factor: { trust_device: '30d' },
    accounts: { terms: TERMS },
    pages: { applications },
    admin: { listen: '127.0.0.1:8081' },
  }
  const [full, simple, optional, limited] = await Promise.all([
    start(everything, providers(provider.issuer)),
    start({ accounts: { registration: 'closed' }, sms: { gateways: [] }, codes: { login: false } }),
    start({
      accounts: { password: 'optional' },
      passkeys: { rp_id: PAGE_HOST },
      two_factor: { allow_email: false },
    }),
    startLimited({ settings: mergeSettings(shared, { pages: { applications } }, brand) }),
  ])
  // Walks make its clock go on.
  provider.keepTime(full.clock)
  const services = [full, simple, optional, limited]
  return {
    ...{ full: withTerms(full), simple, optional, limited, provider },
    async close() {
      await Promise.all(services.map((service) => service.close()))
      await provider.close()
    },
  }
}

/** People who register by the interface accept the terms. */
function withTerms(service: TestService): TestService {
  const { post, inbox } = service
  return {
    ...service,
    async signedIn(identifier = newEmail(), device) {
      await post('register', { ...registration(identifier), terms: TERMS })
      await post('verify-account', { identifier, otp: await inbox.nextCode(identifier) })
      const person = { identifier, password: PASSWORD }
      const { access_token: bearer, refresh_token, account } = await service.logIn(person, device)
      return { person, bearer, refresh_token, account, uuid: account.uuid }
    },
  }
}

/** A page as the service answered it. */
export interface PageState {
  name: string
  path: string
  html: string
}

/** One walk through the states of the pages, in one language. */
export interface Walk extends World {
  language: string
  browse(service?: TestService): PageBrowser
  /** Keeps the page that the browser shows. */
  note(name: string, browser: PageBrowser): void
}

export function startWalk(world: World, language: string): Walk & { states: PageState[] } {
  const states: PageState[] = []
  const { full, simple, optional, limited, provider, close } = world
  return {
    ...{ full, simple, optional, limited, provider, close },
    language,
    states,
    browse: (service = full) => openBrowser(service.url, { language, ...newClient() }),
    note(name, { source: html, path }) {
      if (!html.startsWith('<!doctype html>')) throw new Error(`${name} is no page`)
      if (states.some((state) => state.name === name)) throw new Error(`${name} is there twice`)
      states.push({ name, path, html })
    },
  }
}

const ofAccount = sql`(select id from accounts where email = ${param('email', 'text')})`
const dropTerms = statement<{ email: string }>(
  sql`update accounts set terms_version = null where id = ${ofAccount}`,
)
const dropApp = statement<{ email: string }>(sql`delete from totp_factors where account_id = ${ofAccount}`)
const dropRecoveryCodes = statement<{ email: string }>(
  sql`delete from recovery_codes where account_id = ${ofAccount}`,
)
const dropMostCodes = statement<{ email: string }>(
  sql`update recovery_codes set hashes = hashes[1:1] where account_id = ${ofAccount}`,
)

/** What takes months or a lost phone. */
export const changes = { dropTerms, dropApp, dropRecoveryCodes, dropMostCodes }

interface Owner {
  person: { identifier: string; password: string }
  bearer: string
  recoveryCodes: string[]
}

/** It takes the recovery code of this number. */
export async function addPasskey(at: TestService, owner: Owner, name: string, code: number): Promise<void> {
  const proof = { password: owner.person.password, otp: owner.recoveryCodes[code] }
  const { body } = await at.post('passkeys/registration/options', proof, { bearer: owner.bearer })
  const { credential } = createPasskey(body.options, ORIGIN)
  const { status } = await at.post('passkeys/registration', { credential, name }, { bearer: owner.bearer })
  if (status !== 201) throw new Error(`no passkey: ${status}`)
}
