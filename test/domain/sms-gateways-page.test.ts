/** Each example of docs/gateways.md, loaded and run against a server that answers as the vendor's documentation says. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { parse } from 'smol-toml'
import { createSmsSender } from '../../src/domain/messages/sms-gateways/gateways.ts'
import type { GatewayConfig } from '../../src/platform/config/types.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { createConfigDirectory } from '../helpers/config.ts'
import { type GatewayBehaviour, startGateway } from '../helpers/gateway.ts'
import { startService } from '../helpers/service.ts'

setDefaultTimeout(30_000)

const page = readFileSync(join(import.meta.dir, '../../docs/gateways.md'), 'utf8')
const examples = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map((match) => match[1] as string)
const env = Object.fromEntries(
  [...page.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name as string, `${name}-of-sixteen-letters`]),
)
const { configOf, write, remove } = createConfigDirectory()
afterAll(remove)

interface Vendor {
  to?: string
  /** The request that the vendor wants. */
  request: { method: string; path: string; headers?: Record<string, string>; fields: Record<string, unknown> }
  accepted: GatewayBehaviour
  id: string
  refused: [GatewayBehaviour, 'refused' | 'failed'][]
  receipt?: { body: string | object; type?: string; receipt: string; id: string }
}

const json = (status: number, body: unknown): GatewayBehaviour => ({
  status,
  body: JSON.stringify(body),
  contentType: 'application/json',
})
const TEXT = 'Acme: 012345'
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`

const infobip = (groupName: string) =>
  json(200, { messages: [{ messageId: 'i-1', to: '33612345678', status: { groupName, id: 26 } }] })
const africa = (statusCode: number, status: string) =>
  json(201, {
    SMSMessageData: {
      Message: 'Sent to 1/1',
      Recipients: [{ statusCode, status, number: '+254711000001', messageId: 'ATXid_1', cost: 'KES 0.8' }],
    },
  })

const vendors: Record<string, Vendor> = {
  twilio: {
    request: {
      method: 'POST',
      path: `/2010-04-01/Accounts/${env.TWILIO_ACCOUNT}/Messages.json`,
      headers: { authorization: basic(`${env.TWILIO_ACCOUNT}:${env.TWILIO_TOKEN}`) },
      fields: { To: '+33612345678', From: '+33600000000', Body: TEXT },
    },
    accepted: json(201, { sid: 'SM1', status: 'queued', error_code: null }),
    id: 'SM1',
    refused: [
      [
        json(400, { code: 21211, message: "The 'To' number is not a valid phone number.", status: 400 }),
        'refused',
      ],
      [json(429, { code: 20429, message: 'Too Many Requests', status: 429 }), 'failed'],
    ],
    receipt: {
      body: 'MessageSid=SM1&MessageStatus=delivered&AccountSid=AC1',
      type: 'application/x-www-form-urlencoded',
      receipt: 'delivered',
      id: 'SM1',
    },
  },
  vonage: {
    request: { method: 'POST', path: '/sms/json', fields: { from: 'Acme', to: '33612345678', text: TEXT } },
    accepted: json(200, {
      'message-count': '1',
      messages: [{ to: '33612345678', 'message-id': 'v-1', status: '0' }],
    }),
    id: 'v-1',
    refused: [
      [
        json(200, { 'message-count': '1', messages: [{ status: '4', 'error-text': 'Bad Credentials' }] }),
        'refused',
      ],
      [
        json(200, { 'message-count': '1', messages: [{ status: '1', 'error-text': 'Throughput' }] }),
        'failed',
      ],
    ],
    receipt: {
      body: { messageId: 'v-1', status: 'rejected', 'err-code': '6' },
      receipt: 'failed',
      id: 'v-1',
    },
  },
  infobip: {
    request: {
      method: 'POST',
      path: '/sms/2/text/advanced',
      headers: { authorization: `App ${env.INFOBIP_KEY}` },
      fields: { messages: [{ from: 'Acme', text: TEXT, destinations: [{ to: '33612345678' }] }] },
    },
    accepted: infobip('PENDING'),
    id: 'i-1',
    refused: [
      [infobip('REJECTED'), 'refused'],
      [json(401, { requestError: { serviceException: { messageId: 'UNAUTHORIZED' } } }), 'failed'],
    ],
    receipt: {
      body: { results: [{ messageId: 'i-1', status: { groupName: 'DELIVERED', id: 5 } }] },
      receipt: 'delivered',
      id: 'i-1',
    },
  },
  ovh: {
    request: {
      method: 'POST',
      path: `/v1/sms/${env.OVH_SERVICE}/jobs`,
      headers: { authorization: 'Bearer token-1' },
      fields: { receivers: ['+33612345678'], message: TEXT, sender: 'Acme', noStopClause: true },
    },
    accepted: json(200, {
      totalCreditsRemoved: 1,
      invalidReceivers: [],
      ids: [27814656],
      validReceivers: ['+336'],
    }),
    id: '27814656',
    refused: [
      [
        json(200, { totalCreditsRemoved: 0, invalidReceivers: ['+336'], ids: [], validReceivers: [] }),
        'refused',
      ],
      [json(403, { class: 'Client::Forbidden', message: 'not enough credits' }), 'failed'],
    ],
  },
  orange: {
    to: '+2250707000001',
    request: {
      method: 'POST',
      path: '/smsmessaging/v1/outbound/tel%3A%2B2250000/requests',
      headers: { authorization: 'Bearer token-1' },
      fields: {
        outboundSMSMessageRequest: {
          address: 'tel:+2250707000001',
          senderAddress: 'tel:+2250000',
          outboundSMSTextMessage: { message: TEXT },
        },
      },
    },
    accepted: json(201, {
      outboundSMSMessageRequest: { resourceURL: 'https://api.orange.com/requests/o-1' },
    }),
    id: 'https://api.orange.com/requests/o-1',
    refused: [
      [
        json(400, {
          requestError: { serviceException: { messageId: 'SVC0004', text: 'No valid addresses' } },
        }),
        'refused',
      ],
      [
        json(403, { requestError: { policyException: { messageId: 'POL1009', text: 'Expired contract' } } }),
        'failed',
      ],
    ],
  },
  africastalking: {
    to: '+254711000001',
    request: {
      method: 'POST',
      path: '/version1/messaging',
      headers: { apikey: `${env.AFRICASTALKING_KEY}` },
      fields: { username: 'acme', to: '+254711000001', message: TEXT, from: 'Acme' },
    },
    accepted: africa(101, 'Success'),
    id: 'ATXid_1',
    refused: [
      [africa(403, 'InvalidPhoneNumber'), 'refused'],
      [africa(405, 'InsufficientBalance'), 'failed'],
      [json(201, { SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } }), 'failed'],
    ],
    receipt: {
      body: 'id=ATXid_1&status=Success&phoneNumber=%2B254711000001',
      type: 'application/x-www-form-urlencoded',
      receipt: 'delivered',
      id: 'ATXid_1',
    },
  },
  brevo: {
    request: {
      method: 'POST',
      path: '/v3/transactionalSMS/send',
      headers: { 'api-key': `${env.BREVO_KEY}` },
      fields: { sender: 'Acme', recipient: '33612345678', content: TEXT, type: 'transactional' },
    },
    accepted: json(201, { reference: 'ab1', messageId: 1511882900176220, smsCount: 1 }),
    id: '1511882900176220',
    refused: [
      [json(400, { code: 'invalid_parameter', message: 'Invalid telephone number' }), 'refused'],
      [json(402, { code: 'not_enough_credits', message: 'Not enough credits' }), 'failed'],
    ],
    receipt: {
      body: { messageId: 1511882900176220, msg_status: 'delivered' },
      receipt: 'delivered',
      id: '1511882900176220',
    },
  },
  whatsapp: {
    request: {
      method: 'POST',
      path: `/v23.0/${env.WHATSAPP_NUMBER_ID}/messages`,
      headers: { authorization: `Bearer ${env.WHATSAPP_TOKEN}` },
      fields: {
        messaging_product: 'whatsapp',
        to: '33612345678',
        template: {
          language: { code: 'fr' },
          components: [
            { type: 'body', parameters: [{ type: 'text', text: '012345' }] },
            { type: 'button', parameters: [{ type: 'text', text: '012345' }] },
          ],
        },
      },
    },
    accepted: json(200, {
      messaging_product: 'whatsapp',
      messages: [{ id: 'wamid.1', message_status: 'accepted' }],
    }),
    id: 'wamid.1',
    refused: [
      [json(400, { error: { message: 'Template does not exist', code: 132001 } }), 'refused'],
      [json(400, { error: { message: 'Rate limit hit', code: 130429 } }), 'failed'],
    ],
  },
  plain: {
    request: { method: 'GET', path: '/send', fields: { user: 'acme', to: '33612345678', text: TEXT } },
    accepted: { body: 'OK 12345\r\n' },
    id: '12345',
    refused: [
      [{ body: 'ERR 7 bad number' }, 'refused'],
      [{ body: 'ERR 3 no credit' }, 'failed'],
    ],
    receipt: { body: { id: '12345', status: 'UNDELIV' }, receipt: 'failed', id: '12345' },
  },
}

function load(example: string): GatewayConfig {
  write('config.toml', example)
  return configOf({ env }).sms.gateways[0] as GatewayConfig
}

const named = examples.map((example) => [load(example).name, example] as const)

test('the page has an example for each vendor', () => {
  expect(named.map(([name]) => name)).toEqual(Object.keys(vendors))
})

test.each(named)(
  '%s: a message is sent, and never counted as sent where it was refused',
  async (name, example) => {
    const vendor = vendors[name] as Vendor
    const server = await startGateway()
    const tokens = await startGateway({ behaviour: json(200, { access_token: 'token-1', expires_in: 3600 }) })
    const config = load(example)
    const moved = {
      ...config,
      url: config.url.replace(/^https:\/\/[^/]+/, `http://127.0.0.1:${server.port}`),
      oauth: config.oauth && { ...config.oauth, token_url: tokens.url },
    }
    const sender = createSmsSender([moved])
    const send = () =>
      sender.send({
        ...{
          id: 1,
          channel: 'sms',
          purpose: 'login_code',
          language: 'fr',
          subject: '',
          html: null,
          minutes: 10,
        },
        to: vendor.to ?? '+33612345678',
        text: TEXT,
        code: '012345',
      })
    server.behave(vendor.accepted)
    expect(await send()).toMatchObject({
      outcome: 'sent',
      detail: name,
      gateway: name,
      providerId: vendor.id,
    })
    expect(server.requests[0]).toMatchObject(vendor.request)
    for (const [behaviour, outcome] of vendor.refused) {
      server.behave(behaviour)
      const result = await send()
      expect(result.outcome, JSON.stringify(behaviour)).toBe(outcome)
      expect(result.refusals).toMatchObject([{ gateway: name, outcome }])
    }
    await server.stop()
    await tokens.stop()
  },
)

test('receipts as the vendors send them are understood', async () => {
  const gateways = named.map(([name, example]) => {
    const expanded = example.replace(/\$\{(\w+)\}/g, (_, variable: string) => env[variable] as string)
    return { ...(parse(expanded) as { sms: { gateways: object[] } }).sms.gateways[0], name }
  })
  await using service = await startService({
    settings: { server: { base_url: 'https://auth.example.com' }, sms: { gateways } },
  })
  const early = statement<{ gateway: string }, { providerId: string; receipt: string }>(
    sql`select provider_id, receipt from early_receipts where gateway = ${sql.placeholder('gateway')}`,
  )
  for (const [name, { receipt }] of Object.entries(vendors)) {
    if (!receipt) continue
    const path = `/api/v1/sms/receipts/${name}`
    const secret = load(examples[named.findIndex((each) => each[0] === name)] as string).receipts
      ?.secret as string
    const headers: Record<string, string> = receipt.type ? { 'content-type': receipt.type } : {}
    if (name === 'twilio') {
      const fields = [...new URLSearchParams(receipt.body as string)].sort().flat().join('')
      const signed = `https://auth.example.com${path}${fields}`
      headers['x-twilio-signature'] = createHmac('sha1', secret).update(signed).digest('base64')
    } else headers['x-poterne-secret'] = secret
    const answer = await service.call('POST', path, receipt.body, { headers })
    expect([name, answer.status]).toEqual([name, 200])
    expect(await service.inside.database.first(early, { gateway: name })).toEqual({
      providerId: receipt.id,
      receipt: receipt.receipt as never,
    })
  }
})
