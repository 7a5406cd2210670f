// node receiver.mjs: takes the webhooks of poterne. Keep users and ids in your database, in one transaction.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const key = Buffer.from(process.env.APP_HOOK_SECRET.slice('whsec_'.length), 'base64')
const [users, seen] = [new Map(), new Set()]

function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false
  const wanted = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
  const isWanted = (one) => one.length === wanted.length && timingSafeEqual(one, wanted)
  return signatures.split(' ').map((one) => Buffer.from(one)).some(isWanted)
}

async function take(request, response) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  if (!isSigned(request.headers, body)) return response.writeHead(401).end()
  const { type, data } = JSON.parse(body)
  const isNew = !seen.has(request.headers['webhook-id'])
  if (isNew && data.account && 'account_state' in data) users.set(data.account, data.account_state)
  if (isNew) console.log(type, data.account, users.get(data.account)?.email ?? '-')
  seen.add(request.headers['webhook-id'])
  response.writeHead(204).end()
}

// A request that breaks off ends alone.
createServer((request, response) => take(request, response).catch(() => response.destroy()))
  .listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
