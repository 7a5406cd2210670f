/** Opens the pages of --dev as the one who started it does: with the key of the addresses that the start prints. */
import { waitFor } from './wait.ts'

/** `printed`: what the process wrote so far. */
export const devKey = (printed: () => string): Promise<string> =>
  waitFor(() => /\/\?key=([\w-]{22})/.exec(printed())?.[1], { what: 'the key of the pages of --dev' })

export interface MailboxMessage {
  id: number
  to: string
  purpose: string
  code: string | null
}

export async function readMailbox(url: string, printed: () => string): Promise<MailboxMessage[]> {
  const answer = await fetch(`${url}/dev/mailbox.json?key=${await devKey(printed)}`)
  return (await answer.json()) as MailboxMessage[]
}
