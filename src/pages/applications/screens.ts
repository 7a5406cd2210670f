/** The screens of the hand-over: what cannot be handed over, "Continue to …", and signing out. */
import type { ApplicationConfig } from '../../platform/config/types.ts'
import { fillSentence } from '../../texts/sentences.ts'
import { group, heading, rowLink, rows, submit, whoIs, withSupport } from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import { type Flow, onwardsOf } from '../visits/flow.ts'
import type { Screen, View, Visit } from '../visits/visit.ts'
import { needsConsent } from './request.ts'
import type { ApplicationService } from './service.ts'

interface UnknownRequest {
  /** The name of the service. */
  service: string
  application: string
  /** What to add to the configuration, for a developer. */
  lines?: string | null
}

/** Anything else that a link may hold is not repeated on a page of ours. */
const CLIENT_ID = /^[A-Za-z0-9._-]{2,64}$/

export function unknownScreen(
  { texts: { pages } }: View,
  what: 'application' | 'redirect_uri',
  { service, application, lines = null }: UnknownRequest,
): Screen {
  return {
    title: pages.unknown_application_title,
    content: html`${heading(pages.unknown_application_title, what === 'application' ? pages.unknown_application : pages.unknown_redirect)}${
      lines !== null && html`<pre dir="ltr">${lines}</pre>`
    }
<a class="button quiet main" href="/sign-in">${fillSentence(pages.go_to, { service })}</a>
${CLIENT_ID.test(application) && html`<p class="next small soft"><bdi>client_id: <code>${application}</code></bdi></p>`}`,
  }
}

/** The lines of the configuration with which the request would have been known. JSON's texts are those of TOML. */
export function linesToAdd(
  applications: readonly ApplicationConfig[],
  { application: id, redirectUri }: Pick<NonNullable<Flow['handOver']>, 'application' | 'redirectUri'>,
): string {
  const { name = id, redirectUris = [] } = applications.find((one) => one.id === id) ?? {}
  const uris = [...new Set([...redirectUris, redirectUri])]
  return [
    '[[pages.applications]]',
    `id = ${JSON.stringify(id)}`,
    `name = ${JSON.stringify(name)}`,
    `redirect_uris = [${uris.map((uri) => JSON.stringify(uri)).join(', ')}]`,
  ].join('\n')
}

/** `another`: where somebody else signs in. `isChoice`: the page asks who it shall be. */
export function continueScreen(
  visit: View,
  name: string,
  { href, another, isChoice = false }: { href: string; another: string; isChoice?: boolean },
): Screen {
  const { pages } = visit.texts
  const title = fillSentence(pages.continue_to, { application: name })
  return {
    title,
    content: html`${signedInAs(visit, isChoice ? undefined : another)}${heading(title)}
<a class="button main" href="${href}">${pages.continue}</a>${
      isChoice &&
      html`
<a class="button quiet" href="${another}">${pages.use_another_account}</a>`
    }`,
  }
}

/**
 * The last step to a program on the person's own device, for a browser that does not follow a redirect there. The address is
 * that of the program, with its code.
 */
export const openProgramScreen = ({ texts: { pages } }: View, name: string, href: string): Screen => {
  const title = fillSentence(pages.continue_to, { application: name })
  return {
    title,
    content: html`${heading(title)}<a class="button main" href="${href}">${pages.continue}</a>`,
  }
}

/** Says whose account it is: somebody may have several. `another`: where somebody else signs in. */
function signedInAs({ texts: { pages }, session }: View, another?: string): Html | null {
  const who = session?.account.email ?? session?.account.phone
  if (!who) return null
  const otherwise = another === undefined ? null : html`<a href="${another}">${pages.not_you}</a>`
  return whoIs(who, otherwise)
}

/** The account may not enter. `back`: the application hears so. `support`: people ask there; empty: they are not told. */
export function notOpenScreen(
  visit: View,
  name: string,
  { another, back, support }: { another: string; back: string; support: string },
): Screen {
  const { pages } = visit.texts
  const title = fillSentence(pages.not_open_title, { application: name })
  const why = support === '' ? pages.not_open_lead : withSupport(pages.not_open_support, support)
  return {
    title,
    content: html`${signedInAs(visit)}${heading(title, why)}
<a class="button main" href="${another}">${pages.use_another_account}</a>
<p class="next"><a href="${back}">${pages.go_back}</a></p>`,
  }
}

interface WaysToTwoFactors {
  setUp: string
  /** Where somebody signs in again, by a passkey or as somebody else. */
  another: string
  /** For somebody who turned a second factor on elsewhere meanwhile. */
  onwards: string
  passkeys: boolean
}

/** The application asks for two factors, and the account has one. */
export function twoFactorWantedScreen(
  visit: View,
  name: string,
  { setUp, another, onwards, passkeys }: WaysToTwoFactors,
): Screen {
  const { pages } = visit.texts
  const title = fillSentence(pages.two_factor_wanted_title, { application: name })
  return {
    title,
    content: html`${signedInAs(visit, passkeys ? another : undefined)}${heading(title, pages.two_factor_wanted_lead)}
<a class="button main" href="${setUp}">${pages.two_factor_wanted_set_up}</a>
${group(pages.another_way)}${rows([
  rowLink(
    another,
    passkeys
      ? { icon: 'passkey', label: pages.sign_in_with_passkey }
      : { icon: 'person', label: pages.use_another_account },
  ),
])}
<p class="next">${pages.two_factor_wanted_on} <a href="${onwards}">${pages.continue}</a></p>`,
  }
}

/** `stay`: where somebody goes who does not want to. */
export function signOutScreen(visit: View, { action, stay }: { action: string; stay: string }): Screen {
  const { pages } = visit.texts
  return {
    title: pages.sign_out,
    content: html`${signedInAs(visit)}${heading(pages.sign_out, pages.sign_out_lead)}
<form method="post" action="${action}">${submit(pages.sign_out)}</form>
<p class="next"><a href="${stay}">${pages.stay}</a></p>`,
  }
}

/** Follows a form: an https application gets the browser at once, unless the flow asks; any other only if the person wants it. */
export const createHandOverScreen =
  ({ applications }: { applications: ApplicationService }) =>
  (visit: Visit, { application, redirectUri }: NonNullable<Flow['handOver']>): Screen => {
    const name = applications.list.find(({ id }) => id === application)?.name ?? application
    const href = visit.to('/oauth2/continue')
    const another = visit.to('/sign-in', { ...onwardsOf(visit.flow), signInAfter: visit.now.getTime() })
    const screen = continueScreen(visit, name, { href, another })
    return needsConsent(redirectUri) || visit.flow.asks ? screen : { ...screen, refreshTo: href }
  }
