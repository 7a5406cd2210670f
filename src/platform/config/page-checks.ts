/** Rules about the keys of `[pages]` together, and of `[[pages.applications]]`. */
import { EVERYBODY } from './applications.ts'
import { sitesOf } from './checks.ts'
import { isRedirectUri } from './formats.ts'
import type { Report } from './report.ts'
import { type Settings, shownValue } from './settings.ts'
import type { SchemaValues } from './values.ts'

type Application = SchemaValues['pages']['applications'][number]

/** Pages are a site of their own, at the address of the service. */
export function checkPages(read: Settings, report: Report, dev: boolean): void {
  const { pages, passkeys, server } = read.values
  // Under --dev they are always served.
  if (!pages?.enabled && !dev) return
  checkApplications(read, report, dev)
  if (dev || report.isWrong('server.base_url')) return
  if (!server.baseUrl?.startsWith('https:')) {
    const message =
      'must be an https address with pages.enabled, because browsers keep the cookies of the pages for https alone'
    report.add('server.base_url', message, server.baseUrl && `"${server.baseUrl}"`)
  } else if (passkeys.rpId !== null && !sitesOf(passkeys).includes(server.baseUrl)) {
    const message = `expected "${server.baseUrl}" among them: with pages.enabled people use passkeys there`
    report.add('passkeys.origins', message)
  }
}

function checkApplications({ values, settings }: Settings, report: Report, dev: boolean): void {
  const { applications } = values.pages
  const ids = applications.map(({ id }) => id)
  for (const [index, application] of applications.entries()) {
    const path = `pages.applications[${index}]`
    if (ids.indexOf(application.id) !== index && !report.isWrong(`${path}.id`))
      report.add(`${path}.id`, `"${application.id}" is already the id of another one`)
    for (const key of ['redirect_uris', 'sign_out_uris'] as const) {
      if (!report.isWrong(`${path}.${key}`)) checkAddresses(`${path}.${key}`, application, report, dev)
    }
    if (report.isWrong(`${path}.own`)) continue
    if (application.own === null) checkWithoutOwn(path, settings, report)
    else checkEntry(path, application, { settings, report })
  }
}

/** An application of the team gets tokens that open accounts: nobody on the way may read its codes. */
function checkAddresses(path: string, application: Application, report: Report, dev: boolean): void {
  if (application.own === false) return
  const uris = path.endsWith('redirect_uris') ? application.redirectUris : application.signOutUris
  const open = uris.find((uri) => !isRedirectUri(uri))
  if (open !== undefined) {
    const message =
      'expected https, or http on loopback: other hosts of your network are for applications with own = false'
    report.add(path, message, `"${open}"`)
  }
  const named = dev ? undefined : uris.find((uri) => /^http:\/\/[^/]*localhost(?=[:/]|$)/.test(uri))
  if (named === undefined) return
  const message =
    'expected 127.0.0.1 or [::1] in place of localhost, which may lead to another machine; only --dev takes it'
  report.add(path, message, `"${named}"`)
}

const KEYS_BESIDE_OWN = ['secret_sha256', 'groups', 'two_factor', 'claims', 'backchannel_logout_uri']

function checkWithoutOwn(path: string, settings: Settings['settings'], report: Report): void {
  for (const key of KEYS_BESIDE_OWN) {
    const isSet = settings.some((one) => one.section === path && one.key === key && one.origin !== 'default')
    if (isSet && !report.isWrong(`${path}.${key}`))
      report.add(`${path}.${key}`, `expected only together with ${path}.own = true or false`)
  }
}

function checkEntry(
  path: string,
  { own, groups, secretSha256 }: Application,
  { settings, report }: { settings: Settings['settings']; report: Report },
): void {
  const add = (key: string, message: string) =>
    report.add(`${path}.${key}`, message, shownValue(settings, `${path}.${key}`))
  if (!report.isWrong(`${path}.secret_sha256`) && secretSha256.length > 2)
    add('secret_sha256', 'expected at most two: the secret in use, and the one that replaces it')
  if (report.isWrong(`${path}.groups`)) return
  if (own && groups.length > 0)
    add('groups', 'expected only with own = false: your own applications decide who may enter')
  else if (!own && groups.length === 0)
    add('groups', 'must be set with own = false: the groups that may enter, or ["*"] for every account')
  else if (groups.length > 1 && groups.includes(EVERYBODY))
    add('groups', 'expected "*" alone or names of groups')
}
