/** The applications of the configuration, under /admin/v1: who they are, how many sessions they have, what they were refused. */
import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { pageOf } from '../../domain/foundation/events/page.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import { isOwn, isPublic, issuerOf } from '../../platform/config/applications.ts'
import type { ApplicationConfig, Config } from '../../platform/config/types.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'
import { AppError } from '../../texts/errors.ts'
import type { AdminBase } from '../access/access.ts'
import { detail } from '../access/operation-schema.ts'

const fields = {
  id: t.String({ examples: ['grafana'] }),
  name: t.String({ examples: ['Grafana'] }),
  issuer: t.String({ examples: ['https://auth.example.com/oauth2'] }),
  own: t.Boolean({ description: 'Whether its tokens open accounts' }),
  public: t.Boolean({ description: 'Whether it has no secret' }),
  groups: t.Array(t.String(), { description: 'Who may enter; `*`: every account. Empty for an own one' }),
  sessions: integer({ description: 'Those that are alive' }),
}
const listed = namedObject('ListedApplication', fields, 'An application of the configuration.')
const shown = namedObject(
  'ShownApplication',
  {
    ...fields,
    redirect_uris: t.Array(t.String()),
    sign_out_uris: t.Array(t.String()),
    backchannel_logout_uri: nullable(t.String()),
    refusals: t.Array(
      t.Object({
        at: timeField(),
        error: t.String({ examples: ['invalid_grant'] }),
        reason: t.String({ examples: ['redirect_uri_differs'] }),
        nearest: nullable(t.String(), { description: 'What the configuration has instead' }),
      }),
      { description: 'The last 20 of the process that answers, newest first' },
    ),
  },
  'An application, and what it was refused.',
)

export type ApplicationRecord = typeof listed.static
export type ShownApplicationRecord = typeof shown.static

interface Needs {
  config: Pick<Config, 'pages' | 'server'>
  applicationLog: Pick<ApplicationLog, 'countSessions' | 'refusalsOf'>
}

export function createApplicationsRoutes(base: AdminBase, { config, applicationLog }: Needs) {
  const { applications } = config.pages
  const record = (application: ApplicationConfig, sessions: ReadonlyMap<string, number>) => ({
    id: application.id,
    name: application.name,
    issuer: issuerOf(application, config.server.baseUrl),
    own: isOwn(application),
    public: isPublic(application),
    groups: application.groups,
    sessions: sessions.get(application.id) ?? 0,
  })

  async function show(id: string) {
    const application = applications.find((one) => one.id === id)
    if (!application) throw new AppError('application_not_found')
    return {
      ...record(application, await applicationLog.countSessions()),
      redirect_uris: application.redirectUris,
      sign_out_uris: application.signOutUris,
      backchannel_logout_uri: application.backchannelLogoutUri || null,
      refusals: applicationLog
        .refusalsOf(id)
        .map(({ at, error, reason, nearest }) => ({ at: at.toISOString(), error, reason, nearest })),
    }
  }

  return new Elysia({ name: 'applications', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/applications',
      async ({ query }) => {
        const sessions = await applicationLog.countSessions()
        const records = applications.map((application) => record(application, sessions))
        return success(pageOf(query, records, { list: 'applications', keyOf: ({ id }) => id }))
      },
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('Applications', listed, 'The applications, by their ids.'),
          ...errorResponses('validation_failed'),
        },
        detail: detail('listApplications', 'List the applications that people are handed over to'),
      },
    )
    .get('/applications/:id', async ({ params }) => success({ application: await show(params.id) }), {
      response: {
        200: answer('ApplicationAnswer', { application: shown }, 'One application.'),
        ...errorResponses('application_not_found'),
      },
      detail: detail('showApplication', 'Show an application, and what it was refused'),
    })
}
