/** The HTTP request by which a gateway is asked to send one message. Values are encoded by the format, never pasted. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import {
  fillTemplate,
  fillText,
  type PlaceholderValues,
  type Template,
} from '../../../platform/config/placeholders.ts'
import type { GatewayConfig } from '../../../platform/config/types.ts'
import type { RenderedMessage } from '../senders/sender.ts'

/** `bearer`: the token of the gateway's OAuth, where it has one. */
export function requestOf(gateway: GatewayConfig, message: RenderedMessage, bearer: string | null) {
  const { method, format } = gateway
  const values = valuesOf(message)
  const url = new URL(fillText(gateway.url, values, encodeURIComponent))
  const headers = headersOf(gateway, values, bearer)
  const body = fillTemplate(gateway.body, values) as Record<string, Template>
  if (format === 'query') {
    for (const [name, value] of Object.entries(body)) url.searchParams.append(name, String(value))
    return { url, method, headers }
  }
  const [type, encoded] =
    format === 'json'
      ? ['application/json', JSON.stringify(body)]
      : ['application/x-www-form-urlencoded', formOf(body)]
  if (!headers.has('content-type')) headers.set('content-type', type)
  return { url, method, headers, body: encoded }
}

const formOf = (body: Record<string, Template>): string =>
  new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()

function headersOf({ headers, basicAuth }: GatewayConfig, values: PlaceholderValues, bearer: string | null) {
  const filled = Object.entries(headers).map(
    // A header holds one line of Latin letters; a text of any other kind is percent-encoded.
    ([name, value]) => [name, fillText(value, values, toHeaderText)] as [string, string],
  )
  const all = new Headers([['accept-encoding', 'identity'], ['user-agent', 'poterne'], ...filled])
  if (basicAuth) all.set('authorization', basic(basicAuth.username, basicAuth.password))
  if (bearer !== null) all.set('authorization', `Bearer ${bearer}`)
  return all
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

const toHeaderText = (value: string) => (/^[ -~]*$/.test(value) ? value : encodeURIComponent(value))

function valuesOf({ id, to, text, code, language, minutes }: RenderedMessage): PlaceholderValues {
  return {
    to,
    to_digits: to.slice(1),
    to_national: parsePhoneNumberFromString(to)?.nationalNumber ?? to.slice(1),
    text,
    code: code ?? '',
    language,
    minutes: String(minutes),
    id: `poterne-${id}`,
  }
}
