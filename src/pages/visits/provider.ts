/** The way to another sign-in provider and back to a page of ours. */
import { createHash, randomBytes } from 'node:crypto'
import type { SocialService } from '../../domain/sign-in/social/service.ts'
import { type Flow, languageOf } from './flow.ts'
import type { Visits } from './service.ts'
import type { Visit } from './visit.ts'

interface Journey {
  provider: string
  /** The page to which the browser comes back, and the flow that it brings. */
  back: string
  flow?: Flow
  /** The values of the ticket besides the verifier. */
  kept: { kind: string } & Record<string, string>
}

type LeaveToProvider = (visit: Visit, journey: Journey) => Promise<Response>

interface Needs {
  visits: Visits
  social: SocialService
  baseUrl: string
}

/** The service waits as long for the provider's answer. */
const SECONDS = 600

export const createLeaveToProvider =
  ({ visits, social, baseUrl }: Needs): LeaveToProvider =>
  async (visit, { provider, back, flow = {}, kept }) => {
    const verifier = randomBytes(32).toString('base64url')
    const ticket = visits.tickets.newName()
    const { location, cookie } = await social.authorize(
      provider,
      {
        redirectUri: `${baseUrl}${visit.to(back, { ...flow, ticket })}`,
        codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
      },
      visit.caller,
      { toOwnPage: true },
    )
    visits.setCookie(visit, cookie)
    // The address of a provider may be longer than a flow.
    await visits.tickets.keep({ ...kept, verifier, to: location }, SECONDS, ticket)
    return visits.go(visit, '/leave', { ticket, ...languageOf(visit.flow) })
  }
