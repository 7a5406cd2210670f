/**
 * E-mail over SMTP. Promises: with starttls or tls nothing, not even the password, goes over an unencrypted or
 * unchecked connection; the one recipient is the stored destination; an answer within 20 s. The details it gives are
 * cause codes; what the server says comes as the reason, without addresses.
 */
import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import { domainToASCII } from 'node:url'
import type { SendMailOptions, SMTPPoolOptions } from 'nodemailer'
import { isLoopbackHost } from '../../../platform/config/formats.ts'
import { secretsOfMailServer } from '../../../platform/config/secrets.ts'
import { parseMailbox } from '../../../platform/config/service-name.ts'
import type { SmtpConfig } from '../../../platform/config/types.ts'
import { createRedactor } from '../../../platform/redact.ts'
import { untilResolved } from '../../../platform/resolved-fetch.ts'
import { cleanWords } from '../senders/clean-words.ts'
import type { RenderedMessage, SendOutcome, Trace } from '../senders/sender.ts'
import { type Compose, createComposer } from './compose.ts'
import { createConversation } from './conversation.ts'
import { createSenderCheck, type SenderCheck } from './sender-check.ts'
import { AddressRefused, isSilence, outcomeOfConversation } from './verdict.ts'

const defaultTimeouts = {
  connectMs: 5000,
  greetingMs: 10_000,
  /** The time for which the server may be silent. */
  socketMs: 15_000,
  /** The time for the whole exchange; a server that sends byte by byte could otherwise stretch it without end. */
  sendMs: 20_000,
}
export type SmtpTimeouts = typeof defaultTimeouts

interface SmtpSenderOptions {
  smtp: SmtpConfig
  /** Message ids and EHLO take its host. */
  baseUrl: string
  /** PEM, trusted besides the public authorities. */
  ca?: string
  timeouts?: Partial<SmtpTimeouts>
  trace?: Trace
}

const connectionsAtMost = 5

/** Throws when security is "none" and the host is not this machine. */
export function createSmtpSender(options: SmtpSenderOptions) {
  const { smtp, baseUrl, timeouts } = options
  const { sendMs } = { ...defaultTimeouts, ...timeouts }
  const mailHost = new URL(baseUrl).hostname
  const redact = createRedactor(secretsOfMailServer(smtp))
  // It comes with the first message: a process that sends none needs none of it.
  let opened: { transport: Transport; compose: Compose } | null = null
  const open = () => {
    opened ??= { transport: createTransport(options), compose: createComposer(smtp) }
    return opened
  }
  if (smtp.security === 'none' && !isLoopbackHost(smtp.host))
    throw new Error('smtp.security "none" is for loopback hosts only')
  return {
    /** `reference`: the first part of the message id. Sent with the same one again, it is the same message. */
    async send(message: RenderedMessage, reference: string = crypto.randomUUID()): Promise<SendOutcome> {
      let isWritten = false
      const onWritten = () => {
        isWritten = true
      }
      const messageId = `<${reference}@${mailHost}>`
      const signal = AbortSignal.timeout(sendMs)
      try {
        const { transport, compose } = open()
        const to = recipient(message.to)
        const envelope = { from: parseMailbox(smtp.from).address, to: [to] }
        const raw = compose(message, to, messageId)
        await transport.sendMail({ envelope, raw, signal, onWritten } as Mail)
        return { outcome: 'sent', detail: 'smtp' }
      } catch (error) {
        const outcome = outcomeOfConversation(error, message, redact)
        return isWritten && isSilence(error) ? { ...outcome, mayBeTaken: true } : outcome
      }
    },
    /** Connects, encrypts and authenticates as for a message, and sends none. */
    async verify(): Promise<SendOutcome> {
      try {
        await open().transport.verify()
        return { outcome: 'sent', detail: 'smtp' }
      } catch (error) {
        return outcomeOfConversation(error, { to: smtp.username ?? '', code: null }, redact)
      }
    },
    /** Asks whether it takes mail from `smtp.from`, and sends none. */
    async verifySender(): Promise<SendOutcome> {
      const { username, password } = smtp
      const sender = parseMailbox(smtp.from).address
      const credentials = username === null ? null : { username, password: password ?? '' }
      const check = createSenderCheck(sender, credentials)
      const asking = createTransport(options, check.options)
      try {
        await asking.verify()
        const { status, response } = check.reply() ?? { status: 0, response: '' }
        if (status >= 200 && status < 300) return { outcome: 'sent', detail: 'smtp' }
        const reason = cleanWords(response, { to: sender, code: null }, redact)
        return { outcome: status >= 500 ? 'refused' : 'failed', detail: `smtp_${status}`, reason }
      } catch (error) {
        return outcomeOfConversation(error, { to: sender, code: null }, redact)
      } finally {
        asking.close()
      }
    },
    async close(): Promise<void> {
      opened?.transport.close()
    },
  }
}

type Mail = SendMailOptions & { raw: Buffer; onWritten(): void }
type Transport = ReturnType<typeof createTransport>

function createTransport(
  { smtp, baseUrl, ca, timeouts, trace }: SmtpSenderOptions,
  others: Partial<SenderCheck['options']> = {},
) {
  const { connectMs, greetingMs, socketMs } = { ...defaultTimeouts, ...timeouts }
  const host = new URL(baseUrl).hostname
  const conversation = trace
    ? createConversation(smtp.security, trace, createRedactor(secretsOfMailServer(smtp)))
    : null
  const options: SMTPPoolOptions & { pool: true } = {
    pool: true,
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === 'tls',
    requireTLS: smtp.security === 'starttls',
    ignoreTLS: smtp.security === 'none',
    tls: {
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
    },
    ...(smtp.username === null ? {} : { auth: { user: smtp.username, pass: smtp.password ?? '' } }),
    // Credentials that are configured are used, or nothing is sent.
    forceAuth: smtp.username !== null,
    ...(isIP(host) === 0 && host.includes('.') ? { name: host } : {}),
    maxConnections: connectionsAtMost,
    // Only for a kept connection that the server had closed: not a byte of the message has left then.
    maxRequeues: 1,
    idleTimeout: 30_000,
    // nodemailer's own connection timeout spans connecting and greeting: connecting is timed in `openSocket`.
    connectionTimeout: connectMs + greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: socketMs,
    socketCloseTimeout: 1000,
    maxResponseSize: 65_536,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
    ...conversation?.options,
    ...others,
    getSocket(_, done) {
      openSocket(smtp, connectMs, trace).then(
        (connection) => done(null, { connection }),
        (error: Error) => done(error, false),
      )
    },
  }
  const nodemailer = require('nodemailer') as typeof import('nodemailer')
  const transport = nodemailer.createTransport(options)
  conversation?.watch(transport.transporter)
  // The last moment before a message leaves: whatever was made of the address, it goes there and nowhere else.
  transport.use('stream', (mail, done) => {
    const { to } = mail.message.getEnvelope()
    const wanted = (mail.data.envelope as { to: string[] }).to
    if (!Array.isArray(to) || to.length !== 1 || to[0] !== wanted[0]) return done(new AddressRefused())
    const { raw, onWritten } = mail.data as Mail
    // In one piece, and not through the five streams that nodemailer would send it.
    mail.message.createReadStream = () => Readable.from([raw], { objectMode: false }).once('end', onWritten)
    done()
  })
  return transport
}

/**
 * The stored destination with its domain in ASCII. Throws unless it is exactly one plain address: nodemailer would
 * take a comma or a line break for the start of another one.
 */
function recipient(destination: string): string {
  const found = /^([!#-'*+\-./0-9=?A-Z^-~]{1,64})@([^\s@<>()[\]\\,;:"]{1,253})$/.exec(destination)
  const domain = found ? domainToASCII(found[2] as string) : ''
  if (!found || !/^[a-z0-9.-]+$/.test(domain) || destination.length > 254) throw new AddressRefused()
  return `${found[1]}@${domain}`
}

async function openSocket({ host, port }: SmtpConfig, timeoutMs: number, trace?: Trace): Promise<Socket> {
  await untilResolved(host, AbortSignal.timeout(timeoutMs)).catch(() => {
    throw Object.assign(new Error(), { code: 'ETIMEDOUT' })
  })
  if (trace) trace('resolve', await addressesOf(host))
  const socket = await new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host, port })
    const end = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(() => end(Object.assign(new Error(), { code: 'ETIMEDOUT' })), timeoutMs)
    socket.once('error', end)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', end)
      resolve(socket)
    })
  })
  trace?.('connect', `${socket.remoteAddress} port ${port}`)
  return socket
}

async function addressesOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host
  return (await lookup(host, { all: true })).map(({ address }) => address).join(', ')
}
