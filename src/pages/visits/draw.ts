/** Draws what a visit shows: a page, a refusal in the shape of a page, or the way to the name of the service. */

import type { Ground } from '../../platform/ground.ts'
import { describeFailure } from '../../platform/http/failure.ts'
import type { Client } from '../../platform/http/http-base.ts'
import { pageAnswer } from '../../platform/http/page-answer.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError, errorStatus } from '../../texts/errors.ts'
import { ownSentence } from '../../texts/sentences.ts'
import { type Frame, PAGE_POLICY } from '../frame/frame.ts'
import { againOf, isMistake } from './flow.ts'
import { failedScreen, otherHostScreen } from './refusals.ts'
import type { Place } from './visit.ts'
import { CHOICE, type Screen, type Visit } from './visit.ts'

interface Needs extends Pick<Ground, 'logger'> {
  frame: Frame
  place: Place
  catalog: Catalog
}

export function createDrawing({ frame, place: { base, isOwnHost }, catalog, logger }: Needs) {
  function render(visit: Visit, screen: Screen, bare = false): string {
    const { client, texts, path, flow } = visit
    const { language: _, problem, ...same } = flow
    // The query holds what an application asks for, so it stays.
    const asked = new URLSearchParams(path.startsWith('/oauth2/') ? visit.query : '')
    asked.delete('flow')
    asked.delete(CHOICE)
    const rest = asked.size > 0 ? `&${asked}` : ''
    return frame.render({
      ...screen,
      title: problem && isMistake(problem) ? `${texts.pages.error}: ${screen.title}` : screen.title,
      bare,
      language: client.language,
      texts,
      languages: catalog.tags.map((tag) => ({
        tag,
        href: `${visit.to(path, { ...same, language: tag })}&${CHOICE}${rest}`,
      })),
    })
  }

  function draw(visit: Visit, { refusal: refused, ...screen }: Screen): Response {
    if (refused) throw refusal(visit, refused, screen)
    const page = { html: render(visit, screen), policy: PAGE_POLICY, language: visit.client.language }
    const answer = pageAnswer(page)
    // With `no-referrer` browsers would send `Origin: null` with our forms.
    answer.headers.set('referrer-policy', 'same-origin')
    return answer
  }

  /** Answers where a page cannot be drawn or a form cannot be taken. */
  function refusal(visit: Visit, thrown: unknown, shown?: Screen): AppError {
    if (thrown instanceof AppError && thrown.details.page) return thrown
    const failure = describeFailure(thrown)
    const { errorCode, retryAfterSeconds } = failure
    const { client } = visit
    const isDown = errorStatus[errorCode] >= 500
    const own = ownSentence(failure.message, client.language)
    const screen = shown ?? failedScreen(client, errorCode, sameAgain(visit), retryAfterSeconds, own)
    const page = {
      html: render(visit, screen, isDown),
      policy: frame.policy(isDown),
      language: client.language,
    }
    return new AppError(errorCode, {
      page,
      cause: thrown instanceof AppError ? thrown.cause : thrown,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
  }

  function otherHost(request: Request, client: Client): Response | null {
    const host = request.headers.get('host') ?? ''
    if (isOwnHost(host)) return null
    logger.warn({ host: host.slice(0, 200), key: 'server.base_url' }, OTHER_HOST)
    const texts = client.texts
    const page = {
      ...otherHostScreen(texts, base),
      language: client.language,
      texts,
      languages: [],
    }
    return pageAnswer({
      html: frame.render({ ...page, bare: true }),
      policy: frame.policy(true),
      language: client.language,
    })
  }

  /**
   * HEAD gets no visit either, nor an image or a script of another host, a sister whose requests bring the cookies: a page may
   * make a code or sign somebody in, and nobody would see its answer.
   */
  const withoutVisit = (request: Request, client: Client): Response | null =>
    otherHost(request, client) ??
    (request.method === 'HEAD' || isPartOfOtherPage(request.headers)
      ? pageAnswer({ html: '', policy: PAGE_POLICY, language: client.language })
      : null)

  return { draw, refusal, otherHost, withoutVisit }
}

/** The page that was asked for, on the way to where it leads. Without what an application asks for, its own would be no page. */
function sameAgain({ path, query, flow, isOfEarlierSignIn, to }: Visit): string {
  if (path.startsWith('/oauth2/') || !query.has('flow')) return query.size > 0 ? `${path}?${query}` : path
  if (!flow.handOver && flow.to === undefined) return path
  // Sealed anew, the flow would belong to whoever is signed in now, or to nobody while that cannot be read.
  return isOfEarlierSignIn ? `${path}?flow=${query.get('flow')}` : to(path, againOf(flow))
}

const OTHER_HOST =
  'a page was asked for under a host that is not that of server.base_url: the reverse proxy has to pass Host on'

/**
 * An image, a script or a call of a page elsewhere, and no step of a person, by what the browser says. What a browser asks for
 * by itself, such as a page that is to be saved, has the site `none`.
 */
const isPartOfOtherPage = (headers: Headers): boolean =>
  ['same-site', 'cross-site'].includes(headers.get('sec-fetch-site') ?? '') &&
  (headers.get('sec-fetch-mode') ?? 'navigate') !== 'navigate'
