/**
 * Asks a mail server whether it takes mail from a sender, and takes the question back: no message is sent. The question
 * is put where nodemailer lets a way of authentication speak for itself, since otherwise it asks only for a message.
 */
import type { SMTPPoolOptions } from 'nodemailer'

type Handler = NonNullable<SMTPPoolOptions['customAuth']>[string]
type Reply = { status: number; response: string }

const METHOD = 'SENDER-CHECK'

export type SenderCheck = ReturnType<typeof createSenderCheck>

export function createSenderCheck(
  sender: string,
  credentials: { username: string; password: string } | null,
) {
  let reply: Reply | null = null
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const ask: Handler = async ({ authMethods, sendCommand }) => {
    const say = (command: string) => sendCommand(command) as Promise<Reply>
    if (credentials !== null) {
      const { username, password } = credentials
      const isPlain = authMethods.includes('PLAIN') || !authMethods.includes('LOGIN')
      if (!isPlain) {
        await say('AUTH LOGIN')
        await say(base64(username))
      }
      const { status } = await say(
        isPlain ? `AUTH PLAIN ${base64(`\0${username}\0${password}`)}` : base64(password),
      )
      if (status !== 235) throw new Error('refused')
    }
    reply = await say(`MAIL FROM:<${sender}>`)
    await say('RSET')
  }
  return {
    options: {
      auth: { type: 'custom', method: METHOD, user: 'sender', pass: 'check' },
      customAuth: { [METHOD]: ask },
      forceAuth: true,
    },
    /** The reply to MAIL FROM; null where it did not come so far. */
    reply: (): Reply | null => reply,
  }
}
