/** The checks of the applications that people are handed over to. */
import {
  applicationsForOpenId,
  backChannelsOf,
  EVERYBODY,
  isOwn,
} from '../../platform/config/applications.ts'
import {
  allOf,
  type DatabaseContext,
  type Finding,
  failure,
  type OutsideContext,
  ok,
  warning,
  worstOf,
} from './check.ts'
import { explainFailure } from './explain.ts'
import { askOutside, reachHost } from './reach-checks.ts'
import { createDoctorStore } from './store.ts'

type Reaching = Pick<OutsideContext, 'config' | 'network'>

/** Both issuers as applications read them, and the hosts that are told of the end of a session. */
export async function checkApplications({ config, network }: Reaching): Promise<Finding> {
  const { pages, server } = config
  if (!pages.enabled || pages.applications.length === 0) return ok('there are none')
  const documents = [
    ...(pages.applications.some(({ own }) => own === null)
      ? [{ issuer: server.baseUrl, path: '/.well-known/oauth-authorization-server' }]
      : []),
    ...(applicationsForOpenId(config).length > 0
      ? [
          { issuer: `${server.baseUrl}/oauth2`, path: '/oauth2/.well-known/openid-configuration' },
          { issuer: `${server.baseUrl}/oauth2`, path: '/.well-known/oauth-authorization-server/oauth2' },
        ]
      : []),
  ]
  const findings = await Promise.all([
    ...documents.map(({ issuer, path }) => checkDocument(`${server.baseUrl}${path}`, issuer, network)),
    ...backChannelsOf(config).map(({ id, backchannelLogoutUri }) =>
      reachHost(backchannelLogoutUri, network).then(
        () => ok(''),
        (error) => warning(`${id}: ${explainFailure(error, 'backchannel_logout_uri')}`),
      ),
    ),
  ])
  return worstOf(
    findings.filter(({ level }) => level !== 'ok'),
    ok(`${pages.applications.length} applications find their issuer`),
  )
}

async function checkDocument(url: string, issuer: string, network: Reaching['network']): Promise<Finding> {
  try {
    const answer = await askOutside(network, url)
    if (answer.status !== 200)
      return failure(
        `${url} answers ${answer.status}: pass every path of server.base_url on to poterne, unchanged`,
      )
    const document = (await answer.json()) as { issuer?: string; authorization_endpoint?: string }
    return document.issuer === issuer && document.authorization_endpoint !== undefined
      ? ok('')
      : failure(
          `${url} does not describe ${issuer}: correct server.base_url, or restart what runs on an earlier configuration`,
        )
  } catch (error) {
    return warning(
      `${url} cannot be reached from here (${explainFailure(error, 'server.base_url')}), which is no fault where only applications must reach it`,
    )
  }
}

/** An application whose groups nobody is in lets nobody in; one for every account lets in whoever may register. */
export async function checkApplicationGroups({ config, database }: DatabaseContext): Promise<Finding> {
  const others = applicationsForOpenId(config).filter((application) => !isOwn(application))
  if (others.length === 0) return ok('no application asks for a group')
  const { registration, registrationDomains } = config.accounts
  const isOpen = registration === 'open' && registrationDomains.length === 0
  const named = [...new Set(others.flatMap(({ groups }) => groups))].filter((group) => group !== EVERYBODY)
  const empty = await createDoctorStore(database).emptyGroups(named)
  return allOf(
    others.flatMap(({ id, groups }) => {
      if (groups.includes(EVERYBODY))
        return isOpen
          ? warning(`${id} is open to strangers: anybody may register, and it takes every account`)
          : []
      const without = groups.filter((group) => empty.includes(group))
      return without.length === 0
        ? []
        : warning(
            `${id}: nobody is in ${without.join(', ')}: \`poterne accounts set … --group +${without[0]}\``,
          )
    }),
    ok('somebody is in each group, and no application is open to strangers'),
  )
}
