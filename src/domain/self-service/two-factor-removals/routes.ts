/** The page on which an owner keeps two-factor sign-in on. A mail scanner that opens the link changes nothing. */
import { Elysia, t } from 'elysia'
import type { Client, HttpBase } from '../../../platform/http/http-base.ts'
import { pageAnswer } from '../../../platform/http/page-answer.ts'
import { hidden } from '../../../platform/http/route-traits.ts'
import { STOP_PATH } from './links.ts'
import { type StopState, stopPage } from './page.ts'
import type { TwoFactorRemovals } from './service.ts'

const route = hidden({ takes: 'form', answers: 'page' })
const token = t.Optional(t.String({ maxLength: 200 }))

export function createTwoFactorRemovalRoutes(httpBase: HttpBase, removals: TwoFactorRemovals) {
  const page = (state: StopState, { texts, language }: Pick<Client, 'texts' | 'language'>) =>
    pageAnswer(stopPage(state, { ...removals, texts, language }))
  return new Elysia({ name: 'two-factor-removals' })
    .use(httpBase)
    .get(
      STOP_PATH,
      async ({ query: { t: link = '', done }, client }) =>
        removals.done.read(done)
          ? page('stopped', client)
          : page((await removals.waits(link)) ? { token: link } : 'gone', client),
      { query: t.Object({ t: token, done: t.Optional(t.String({ maxLength: 1000 })) }), ...route },
    )
    .post(
      STOP_PATH,
      async ({ body, client }) =>
        (await removals.stop(body.t ?? '')) ? removals.done.leadTo(STOP_PATH, {}) : page('gone', client),
      { body: t.Object({ t: token }), ...route },
    )
}
