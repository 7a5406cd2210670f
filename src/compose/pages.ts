/** The pages for people, on top of the services. Only an installation that has them makes them. */

import type { ClientSettings } from '../operations/client-settings/routes.ts'
import type { DevPerson } from '../operations/dev/people.ts'
import { createSignInAs } from '../operations/dev/sign-in-as.ts'
import { createAccountRoutes } from '../pages/account/routes.ts'
import { createAccountPages } from '../pages/account/service.ts'
import { createBackChannel } from '../pages/applications/back-channel.ts'
import { isAfterSignOut } from '../pages/applications/request.ts'
import { createApplicationRoutes, createIssuerRoutes } from '../pages/applications/routes.ts'
import { createHandOverScreen } from '../pages/applications/screens.ts'
import { createApplicationService } from '../pages/applications/service.ts'
import { createUserinfo } from '../pages/applications/userinfo.ts'
import { frameOf } from '../pages/frame/frame.ts'
import { createFrameRoutes } from '../pages/frame/routes.ts'
import { createDestinations } from '../pages/visits/destinations.ts'
import { createFlowSeal } from '../pages/visits/flow.ts'
import { unreachedScreen } from '../pages/visits/refusals.ts'
import { createVisits } from '../pages/visits/service.ts'
import { placeOfPeople } from '../pages/visits/visit.ts'
import { createWaysInRoutes } from '../pages/ways-in/routes.ts'
import { createWaysIn } from '../pages/ways-in/service.ts'
import { applicationsForOpenId } from '../platform/config/applications.ts'
import type { Config } from '../platform/config/types.ts'
import type { HttpBase } from '../platform/http/http-base.ts'
import { errorStatus } from '../texts/errors.ts'
import type { AppPages } from './app.ts'
import type { Services } from './services.ts'

interface PageOptions {
  dev: boolean
  /** Who can be signed in as from the start page of --dev. */
  people?: DevPerson[] | undefined
  settings: ClientSettings
}

/** The applications that may keep people signed in, since nothing tells them of an end. */
const untoldOf = (config: Config) =>
  applicationsForOpenId(config).flatMap(({ id, backchannelLogoutUri }) =>
    backchannelLogoutUri === '' ? [id] : [],
  )

export function createPages(services: Services, { dev, settings, people }: PageOptions): AppPages {
  const { config, clock } = services
  const { pages } = config
  const frame = frameOf(config)
  const destinations = createDestinations({
    ...pages,
    isAfterSignOut: (address) => isAfterSignOut(address, pages.applications),
  })
  const place = placeOfPeople(config.server.baseUrl, services.browserSessions, dev)
  const visits = createVisits({ ...services, frame, destinations, place, seal: createFlowSeal(services) })
  const applications = createApplicationService(services)
  const userinfo = createUserinfo({ ...services, applications })
  services.tellApplicationsBy(createBackChannel(services))
  const waysIn = createWaysIn({ ...services, visits })
  const offered = {
    service: frame.name,
    support: config.texts.support || pages.help,
    email: settings.registration.email,
    phone: settings.registration.phone,
    signInByCode: settings.codes.sign_in,
    passkeys: settings.passkeys.enabled,
    providers: settings.providers,
    registration: config.accounts.registration,
    minimumLength: settings.password.minimum_length,
    resendAfter: settings.codes.resend_after,
    terms: pages.terms,
    termsVersion: config.accounts.terms,
    passwordOptional: config.accounts.password === 'optional',
    isForDomains: config.accounts.registrationDomains.length > 0,
    trustDevice: config.twoFactor.trustDevice !== null,
  }
  const routes: AppPages['routes'] = [
    (httpBase) => createFrameRoutes(httpBase, frame),
    (httpBase) =>
      createWaysInRoutes(httpBase, {
        ...{ visits, waysIn, offered, clock, sender: services.sender },
        home: destinations.home,
        handOverScreen: createHandOverScreen({ applications }),
      }),
    (httpBase) =>
      createAccountRoutes(httpBase, {
        visits,
        account: createAccountPages({ ...services, visits }),
        offered: {
          ...offered,
          languages: settings.languages,
          applications: new Map(pages.applications.map(({ id, name }) => [id, name])),
          untold: untoldOf(config),
        },
      }),
    ...(applications.list.length === 0
      ? []
      : [
          (httpBase: HttpBase) =>
            createApplicationRoutes(httpBase, { ...services, visits, applications, userinfo, dev }),
        ]),
    ...(applicationsForOpenId(config).length === 0
      ? []
      : [() => createIssuerRoutes(config.server.baseUrl, services.identityKeys)]),
  ]
  return {
    routes,
    signInAs: people ? createSignInAs({ ...services, visits, people }) : null,
    unreached: (code, { language, texts }) => ({
      html: frame.render({
        ...unreachedScreen(texts, code),
        bare: errorStatus[code] >= 500,
        ...{ language, texts, languages: [] },
      }),
      policy: frame.policy(errorStatus[code] >= 500),
      language,
    }),
  }
}
