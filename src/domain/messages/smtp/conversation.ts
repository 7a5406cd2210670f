/** The conversation with a mail server as steps: what nodemailer sends and receives, without secrets. */
import type { TLSSocket } from 'node:tls'
import type { SMTPPoolOptions } from 'nodemailer'
import type { Redact } from '../../../platform/redact.ts'
import { plainWords } from '../senders/clean-words.ts'
import type { Trace } from '../senders/sender.ts'

interface Pool {
  _connections?: { connection?: { _socket?: TLSSocket } }[]
}

/** Names of the steps by the commands that begin them. */
const steps: Record<string, string> = {
  EHLO: 'hello',
  HELO: 'hello',
  STARTTLS: 'starttls',
  AUTH: 'auth',
  MAIL: 'sender',
  RCPT: 'recipient',
  DATA: 'data',
  RSET: 'reset',
  QUIT: 'quit',
}

export function createConversation(security: string, trace: Trace, redact: Redact) {
  /** The commands that wait for their reply. */
  const waiting: string[] = []
  let pool: Pool = {}

  const encryption = (): string => {
    const socket = pool._connections?.at(-1)?.connection?._socket
    if (typeof socket?.getProtocol !== 'function') return 'encrypted'
    return `${socket.getProtocol()} ${socket.getCipher()?.name ?? ''}, the certificate is trusted`
  }

  function sent(command: string): void {
    const verb = /^[A-Z]+/.exec(command)?.[0] ?? ''
    // Names and passwords go as lines of their own.
    waiting.push(steps[verb] ?? 'auth')
  }

  function received(reply: string): void {
    const step = waiting.shift() ?? 'greeting'
    if (step === 'greeting' && security === 'tls') trace('tls', encryption())
    const isToBeContinued = reply.startsWith('3')
    if (step === 'data' && isToBeContinued) waiting.unshift('message')
    const isAside = step === 'quit' || step === 'reset'
    if (isAside || isToBeContinued || (step === 'starttls' && reply.startsWith('2'))) return
    trace(step, plainWords(step === 'hello' ? firstLine(reply) : reply, redact))
  }

  const hear = ({ tnx }: { tnx?: string }, text: string) => {
    if (tnx === 'client') sent(text)
    if (tnx === 'server') received(text)
    if (text === 'Connection upgraded with STARTTLS') trace('starttls', encryption())
  }
  return {
    options: {
      transactionLog: true,
      logger: { ...ignoring, debug: hear, info: hear } as unknown as NonNullable<SMTPPoolOptions['logger']>,
    },
    /** Reads off the encryption, which nodemailer does not tell. */
    watch(transporter: unknown): void {
      pool = transporter as Pool
    },
  }
}

const ignore = () => {}
const ignoring = { level: ignore, trace: ignore, warn: ignore, error: ignore, fatal: ignore }

const firstLine = (reply: string) => reply.split('\n', 1)[0]!
