/** A real SMTP server that keeps what it receives, and that can refuse, hesitate, drip or be away. */
import { createServer, type Socket } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { type CertificateKind, createCertificate, type TestCertificate } from './certificates.ts'
import { freePort } from './free-port.ts'
import { codeIn } from './inbox.ts'
import { PATIENCE_MS, waitFor } from './wait.ts'

export interface ReceivedMail {
  /** The envelope of the SMTP conversation. */
  envelope: { from: string; to: string[] }
  /** The address in the `To` header. */
  to: string
  from: string
  subject: string
  text: string
  html: string
  /** Header names in lower case. */
  headers: Record<string, string>
  /** The six digits in the text, if any. */
  code: string | null
  raw: string
  /** Milliseconds since the epoch, when the last line had come. */
  receivedAt: number
  /** True if the connection was encrypted. */
  secure: boolean
  /** The user who had signed in. */
  username: string | null
}

export interface SmtpBehaviour {
  /** Refuses with this status, e.g. 451 (try again) or 550 (never). */
  refuse?: { status: number; at: 'connect' | 'sender' | 'recipient' | 'data'; words?: string }
  /** Waits before it answers to the end of a message. */
  delayMs?: number
  /** Takes the message, then breaks the connection instead of answering. */
  breakAfterData?: boolean
}

export interface SmtpOptions {
  security?: 'starttls' | 'tls' | 'none'
  /** It is null if no AUTH is offered. */
  auth?: { username: string; password: string } | null
  certificate?: CertificateKind
  behaviour?: SmtpBehaviour
}

export interface TestSmtp {
  host: string
  port: number
  auth: { username: string; password: string } | null
  /** The authority to trust: PEM, and as a file. It is empty with security "none". */
  ca: string
  caFile: string
  messages: ReceivedMail[]
  /** Conversations so far, also those without a message. */
  readonly connections: number
  /** The first message, come already or still to come, that the predicate accepts. */
  waitFor(predicate: (mail: ReceivedMail) => boolean, timeoutMs?: number): Promise<ReceivedMail>
  waitForMailTo(address: string, timeoutMs?: number): Promise<ReceivedMail>
  /** It holds from the next conversation on; `{}` takes everything at once. */
  behave(behaviour: SmtpBehaviour): void
  /** Breaks every connection and refuses new ones, until `start()`, which takes the same port again. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Sends one byte of the greeting each interval, until `start()`. */
  drip(intervalMs: number): Promise<void>
}

interface Listener {
  close(): Promise<void>
}

/** One of each kind serves every server of a process: openssl is started three times to make one. */
const certificates = new Map<CertificateKind, TestCertificate>()

export async function startSmtp(options: SmtpOptions = {}): Promise<TestSmtp> {
  const { security = 'starttls', certificate = 'trusted' } = options
  const auth = options.auth === undefined ? { username: 'poterne', password: 'mail-password' } : options.auth
  const pem =
    security === 'none'
      ? null
      : certificates.getOrInsertComputed(certificate, () => createCertificate(certificate))
  const port = await freePort()
  const messages: ReceivedMail[] = []
  const state: State = { behaviour: options.behaviour ?? {}, connections: 0, break: () => {} }
  let listener: Listener | null = null

  const serverOptions: SMTPServerOptions = {
    secure: security === 'tls',
    ...(pem === null ? {} : { key: pem.key, cert: pem.cert }),
    disabledCommands: [...(security === 'starttls' ? [] : ['STARTTLS']), ...(auth === null ? ['AUTH'] : [])],
    authOptional: auth === null,
    allowInsecureAuth: security === 'none',
    logger: false,
    // It would ask for the name of each client before the greeting: a second and more where nobody answers.
    disableReverseLookup: true,
    ...checkAuth(auth),
    ...answers(state, messages),
  }
  const become = async (open: () => Promise<Listener>) => {
    await listener?.close()
    listener = null
    listener = await open()
  }
  const waitForMail: TestSmtp['waitFor'] = (predicate, timeoutMs = PATIENCE_MS) =>
    waitFor(() => messages.find(predicate), { what: 'a mail', timeoutMs, intervalMs: 2 })
  const smtp: TestSmtp = {
    host: '127.0.0.1',
    port,
    auth,
    ca: pem?.ca ?? '',
    caFile: pem?.caFile ?? '',
    messages,
    get connections() {
      return state.connections
    },
    waitFor: waitForMail,
    waitForMailTo: (address, timeoutMs) =>
      waitForMail(({ envelope }) => envelope.to.includes(address), timeoutMs),
    behave: (behaviour) => {
      state.behaviour = behaviour
    },
    start: () => become(() => listen(serverOptions, port, state)),
    stop: async () => {
      await listener?.close()
      listener = null
    },
    drip: (intervalMs) => become(() => listenDripping(port, intervalMs)),
  }
  await smtp.start()
  return smtp
}

function checkAuth(auth: TestSmtp['auth']): Pick<SMTPServerOptions, 'onAuth'> {
  return {
    onAuth: ({ username, password }, _session, done) => {
      const right = auth !== null && username === auth.username && password === auth.password
      done(right ? null : refusal(535), right ? { user: username } : undefined)
    },
  }
}

function refusal(status: number, words = 'refused by the test'): Error {
  return Object.assign(new Error(words), { responseCode: status })
}

interface State {
  behaviour: SmtpBehaviour
  connections: number
  break: (session: SMTPServerSession) => void
}

function answers(state: State, messages: ReceivedMail[]): SMTPServerOptions {
  const refusalAt = (at: NonNullable<SmtpBehaviour['refuse']>['at']) => {
    const { refuse } = state.behaviour
    return refuse?.at === at ? refusal(refuse.status, refuse.words) : null
  }
  return {
    onConnect: (_session, done) => {
      state.connections++
      done(refusalAt('connect'))
    },
    onMailFrom: (_address, _session, done) => done(refusalAt('sender')),
    onRcptTo: (_address, _session, done) => done(refusalAt('recipient')),
    onData: async (stream, session, done) => {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of stream) chunks.push(chunk as Buffer)
      } catch {
        // The client broke off: killed in the middle of its message.
        return done(refusal(451))
      }
      const { delayMs = 0, breakAfterData = false } = state.behaviour
      const refused = refusalAt('data')
      if (refused === null) messages.push(await read(Buffer.concat(chunks), session))
      if (delayMs > 0) await Bun.sleep(delayMs)
      if (breakAfterData) state.break(session)
      else done(refused)
    },
  }
}

async function read(raw: Buffer, session: SMTPServerSession): Promise<ReceivedMail> {
  const receivedAt = Date.now()
  const mail = await PostalMime.parse(raw)
  const { mailFrom, rcptTo } = session.envelope
  return {
    envelope: { from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address) },
    to: mail.to?.[0]?.address ?? '',
    from: mail.from?.address ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    code: codeIn(mail.text ?? ''),
    raw: raw.toString('utf8'),
    receivedAt,
    secure: session.secure,
    username: (session.user as string | undefined) ?? null,
  }
}

/** The part of a conversation that smtp-server keeps; its types do not say. */
interface OpenConversation {
  session: SMTPServerSession
  _socket: Socket
}

async function listen(options: SMTPServerOptions, port: number, state: State): Promise<Listener> {
  const server = new SMTPServer({ ...options, closeTimeout: 1 })
  state.break = (session) => {
    const { connections } = server as unknown as { connections: Set<OpenConversation> }
    for (const conversation of connections)
      if (conversation.session === session) conversation._socket.destroy()
  }
  server.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { close: () => new Promise((resolve) => server.close(() => resolve())) }
}

async function listenDripping(port: number, intervalMs: number): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let sent = 0
    const greeting = `220-${'a slow greeting '.repeat(1000)}`
    const timer = setInterval(() => socket.write(greeting[sent++ % greeting.length] as string), intervalMs)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      sockets.delete(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  return { close }
}
