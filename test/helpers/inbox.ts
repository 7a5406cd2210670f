/** The messages that arrived for people, e-mail and SMS together. Each code is returned once, in order of arrival. */
import type { TestGateway } from './gateway.ts'
import type { TestSmtp } from './smtp.ts'
import { eachSecond, PATIENCE_MS, waitFor } from './wait.ts'

/** The six digits of a message. A link may hold six by chance too, between its letters and dashes. */
export const codeIn = (text: string): string | null => /(?<![\w-])\d{6}(?![\w-])/.exec(text)?.[0] ?? null

export interface Inbox {
  /** The code of the next message to that address or number which was not returned before. */
  nextCode(destination: string, timeoutMs?: number): Promise<string>
  /** Texts of every message to it so far. */
  textsTo(destination: string): string[]
  /** The codes in them. */
  codesTo(destination: string): string[]
  /** Messages to anybody so far. */
  count(): number
}

/** `onSlow` is called each second that a code does not arrive. */
export function createInbox(smtp: TestSmtp, gateway: TestGateway, onSlow = () => {}): Inbox {
  const seen = new Map<string, number>()
  const textsTo = (destination: string) =>
    destination.startsWith('+')
      ? gateway.messages.filter(({ to }) => to === destination).map(({ text }) => text)
      : smtp.messages.filter(({ envelope }) => envelope.to.includes(destination)).map(({ text }) => text)
  const codesTo = (destination: string) => textsTo(destination).flatMap((text) => codeIn(text) ?? [])
  return {
    textsTo,
    codesTo,
    count: () => smtp.messages.length + gateway.messages.length,
    async nextCode(destination, timeoutMs = PATIENCE_MS) {
      const index = seen.get(destination) ?? 0
      const arrived = eachSecond(onSlow, () => codesTo(destination)[index])
      const code = await waitFor(arrived, {
        what: `a code for ${destination}`,
        timeoutMs,
        intervalMs: 5,
      })
      seen.set(destination, index + 1)
      return code
    },
  }
}
