// npm install ./poterne-client-*.tgz; node backend.mjs
import { createServer } from 'node:http'
import { createVerifier } from '@poterne/client/server'

const page = process.env.PAGE_ORIGIN ?? 'http://localhost:5173'
const verifier = createVerifier({ url: process.env.POTERNE_URL ?? 'http://localhost:8080' })

const server = createServer(async (request, response) => {
  // The page runs at another address, and sends a header of its own: browsers ask first.
  response.setHeader('access-control-allow-origin', page)
  response.setHeader('access-control-allow-headers', 'authorization')
  if (request.method === 'OPTIONS') return response.writeHead(204).end()
  try {
    const { sub } = await verifier.verify(request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ user: sub }))
  } catch (error) {
    // 401, or 503 while no keys can be had: an outage is no reason to sign people out.
    response.writeHead(error.status).end()
  }
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
