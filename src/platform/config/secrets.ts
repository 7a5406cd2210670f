/** The secrets that a mail server or gateway is shown, and may repeat in what it answers. */
import { literalsIn, type Template } from './placeholders.ts'
import type { GatewayConfig, SmtpServerConfig } from './types.ts'

export const secretsOfMailServer = ({ password }: Pick<SmtpServerConfig, 'password'>): string[] =>
  password === null ? [] : [password]

export function secretsOfGateway(gateway: GatewayConfig): string[] {
  const { url, headers, body, basicAuth, oauth, receipts } = gateway
  return [
    ...secretsOfUrl(url),
    ...Object.entries(headers).flatMap(([name, value]) => secretsOfHeader(name, value)),
    ...secretsOfTemplate('', body),
    ...(basicAuth ? pairOf(basicAuth.username, basicAuth.password) : []),
    ...(oauth ? [...secretsOfUrl(oauth.token_url), ...pairOf(oauth.client_id, oauth.client_secret)] : []),
    ...(receipts ? [receipts.secret] : []),
  ]
}

/** Some gateways want their key in the place of the user. */
const pairOf = (user: string, password: string): string[] => [
  password,
  `${user}:${password}`,
  ...(user.length >= 16 ? [user] : []),
]

const secretName = /key|token|secret|pass|pwd|auth|cred|sign|^(k|p|h|pw|psw|pin)$/i

/** A field may hold anything: its name tells, or a value that looks like no word. */
function isSecret(name: string, value: string): boolean {
  if (secretName.test(name)) return true
  return /\s/.test(value) ? false : value.length >= 20 || (value.length >= 6 && /\d/.test(value))
}

function secretsOfTemplate(name: string, template: Template): string[] {
  if (Array.isArray(template)) return template.flatMap((each) => secretsOfTemplate(name, each))
  if (typeof template === 'object')
    return Object.entries(template).flatMap(([key, each]) =>
      secretsOfTemplate(secretName.test(name) ? name : key, each),
    )
  return literalsIn(String(template)).filter((text) => isSecret(name, text))
}

const harmlessHeaders = ['content-type', 'accept', 'accept-language', 'user-agent']

/** `Bearer KEY`, `App KEY`, `Token token=KEY`, `Basic …`: the whole value, its words, and what base64 holds. */
function secretsOfHeader(name: string, value: string): string[] {
  if (harmlessHeaders.includes(name.toLowerCase())) return []
  return literalsIn(value).flatMap((text) => {
    const words = text.split(/[\s,;="]+/).filter((word) => isSecret('', word))
    const basic = /^Basic\s+([\w+/=-]+)$/i.exec(text)
    const pair = basic ? Buffer.from(basic[1]!, 'base64').toString() : ''
    const last = text.split(/\s+/).at(-1)!
    return [text, last, ...words, ...(basic ? [pair, pair.slice(pair.indexOf(':') + 1)] : [])]
  })
}

/** The secrets of an address: user, password, keys in the query, and what looks like a key in the path. */
function secretsOfUrl(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const decoded = [url.username, url.password].map(decodePercent)
  return [
    ...decoded,
    ...[...url.searchParams].flatMap(([name, value]) => secretsOfTemplate(name, value)),
    ...url.pathname
      .split('/')
      .map(decodePercent)
      .flatMap((segment) => literalsIn(segment))
      .filter((segment) => segment.length >= 12 && /\d/.test(segment)),
  ]
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
