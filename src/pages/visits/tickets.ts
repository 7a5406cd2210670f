/**
 * Keeps the values that were proved or sent on a way through the pages for its next steps: sealed, under a name that stands
 * in the flow. A ticket that names a session is that session's alone, and so ends with it. That of a
 * registration is the browser's that has its cookie.
 */
import { randomBytes } from 'node:crypto'
import type { TicketStore } from '../../domain/foundation/tickets/store.ts'
import type { Ground } from '../../platform/ground.ts'

export type PageTicket = Readonly<Record<string, string>>

/** A ticket is read for the session of the request, and for the tag of its cookie for registrations. */
interface TicketHolder {
  session: string | undefined
  registration: string
}

interface Needs extends Pick<Ground, 'clock' | 'secret'> {
  stores: { tickets: TicketStore }
}

const LABEL = 'page ticket'
const DONE_SECONDS = 900

export type PageTickets = ReturnType<typeof createPageTickets>

export function createPageTickets({ clock, secret, stores }: Needs) {
  const newName = () => randomBytes(16).toString('base64url')

  async function keep(ticket: PageTicket, seconds: number, name: string = newName()): Promise<string> {
    const sealed = secret.seal(LABEL, JSON.stringify(ticket)).toString('base64url')
    const now = clock.now()
    await stores.tickets.put(`page:${name}`, { sealed }, new Date(now.getTime() + seconds * 1000), now)
    return name
  }

  return {
    /** Names a ticket that is kept later. */
    newName,
    /** Gives the name. Call it after the service was asked: what limits refuse writes nothing. */
    keep,
    async find(name: string | undefined, holder: TicketHolder): Promise<PageTicket | null> {
      if (name === undefined) return null
      const sealed = (await stores.tickets.find(`page:${name}`, clock.now()))?.sealed
      if (typeof sealed !== 'string') return null
      const opened = secret.open(LABEL, Buffer.from(sealed, 'base64url'))
      const ticket = JSON.parse(opened.toString()) as PageTicket
      const isOf = (owner: keyof TicketHolder) =>
        ticket[owner] === undefined || ticket[owner] === holder[owner]
      return isOf('session') && isOf('registration') ? ticket : null
    },
    /** Forgets what the ticket held, but for its provider. Somebody who comes back to its page is told that the form was taken. */
    async spend({ flow, ticket }: { flow: { ticket?: string }; ticket: PageTicket | null }): Promise<void> {
      const { session = '', provider } = ticket ?? {}
      const done = { kind: 'done', session, ...(provider !== undefined && { provider }) }
      if (flow.ticket !== undefined) await keep(done, DONE_SECONDS, flow.ticket)
    },
  }
}
