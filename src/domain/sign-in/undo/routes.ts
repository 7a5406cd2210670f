/** The page behind the link in a notice: GET shows a form, POST acts. The token is the authority, so no cookie is read. */
import { Elysia } from 'elysia'
import type { Client, HttpBase } from '../../../platform/http/http-base.ts'
import { pageAnswer } from '../../../platform/http/page-answer.ts'
import { hidden } from '../../../platform/http/route-traits.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import { AppError } from '../../../texts/errors.ts'
import { undoDone, undoForm, undoRefused } from './page.ts'
import type { UndoOutcome, UndoService } from './service.ts'

/** The pages are for people: they are not in the document for programs. */
const route = hidden({ takes: 'any', answers: 'page' })

export function createUndoRoutes(httpBase: HttpBase, undo: UndoService, catalog: Catalog) {
  const { service, support, draw, done, recoverPath } = undo

  function pageOf({ state, contact, ...outcome }: UndoOutcome, token: string, visitor: Client): Response {
    const language =
      outcome.language !== null && catalog.has(outcome.language) ? outcome.language : visitor.language
    const { undo: words, pages } = catalog.of(language)
    const options = { draw, language, words, service, support, contact }
    const next = recoverPath === null ? null : { href: recoverPath, label: pages.choose_password_title }
    switch (state) {
      case 'open':
        return pageAnswer(undoForm(options, token))
      case 'restored':
        return pageAnswer(undoDone(options, next))
      case 'taken': {
        const page = undoRefused(options, words.taken_title, words.taken)
        throw new AppError('identifier_taken', { page })
      }
      case 'invalid': {
        const page = undoRefused(options, words.invalid_title, words.invalid)
        throw new AppError('route_not_found', { page })
      }
    }
  }

  async function answer(
    work: Promise<UndoOutcome>,
    token: string,
    visitor: Client,
    isForm = false,
  ): Promise<Response> {
    try {
      const { state, language, contact } = await work
      if (isForm && state === 'restored') return done.leadTo('/undo', { language, contact })
      return pageOf({ state, language, contact }, token, visitor)
    } catch (error) {
      if (!(error instanceof AppError) || error.details.page) throw error
      const { language } = visitor
      const { undo: words, errors } = catalog.of(language)
      const options = { draw, language, words, service, support, contact: '' }
      const { errorCode, details } = error
      const { retryAfterSeconds } = details
      const page = undoRefused(options, words.refused_title, errors[errorCode])
      throw new AppError(errorCode, { page, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
    }
  }

  return new Elysia({ name: 'undo' })
    .use(httpBase)
    .get(
      '/undo',
      ({ query, client }) => {
        const restored = done.read(query.done)
        if (restored) return pageOf({ state: 'restored', ...restored }, '', client)
        const token = tokenIn(query)
        return answer(undo.show(token, client), token, client)
      },
      route,
    )
    .post(
      '/undo',
      ({ body, client }) => {
        const token = tokenIn(body)
        return answer(undo.use(token, client), token, client, true)
      },
      route,
    )
}

/** It returns empty where there is none, which no link has. */
function tokenIn(fields: unknown): string {
  const { t } = (typeof fields === 'object' && fields !== null ? fields : {}) as { t?: unknown }
  return typeof t === 'string' && t.length <= 100 ? t : ''
}
