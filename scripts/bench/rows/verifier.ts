/** Access tokens verified a second by the client package, without the feed of ended sessions and with it, against bare `jwtVerify`. */
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { createVerifier } from '../../../src/client/server.ts'
import type { Bench } from '../bench.ts'
import { compare } from '../compare.ts'

const ENDED = 1000

/** Publishes a key, and tells of sessions that were ended, as poterne does. */
async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }]
  const until = Math.floor(Date.now() / 1000) + 3600
  const ended = Array.from({ length: ENDED }, () => ({ session: crypto.randomUUID(), until }))
  const server = Bun.serve({
    port: 0,
    idleTimeout: 60,
    async fetch({ url }) {
      if (url.endsWith('/jwks.json')) return Response.json({ keys })
      if (!url.includes('after=')) return Response.json({ status: 200, cursor: '1', ended })
      await Bun.sleep(25_000)
      return Response.json({ status: 200, cursor: '1', ended: [] })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const claims = { iss: url, aud: url, sub: crypto.randomUUID(), sid: crypto.randomUUID() }
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  return { url, token, stop: () => server.stop(true) }
}

const AT_A_TIME = 20

/** Verifications a second of each, by turns of some milliseconds: whatever else runs on the machine meets both. */
async function rates(seconds: number, ways: (() => Promise<unknown>)[]): Promise<number[]> {
  const spentMs = ways.map(() => 0)
  let turns = 0
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt; turns++)
    for (const [way, verify] of ways.entries()) {
      const startedAt = performance.now()
      for (let count = 0; count < AT_A_TIME; count++) await verify()
      spentMs[way]! += performance.now() - startedAt
    }
  return spentMs.map((ms) => (turns * AT_A_TIME * 1000) / ms)
}

const againstJose = (what: string, feedToken?: string) => async (bench: Bench) => {
  const { url, token, stop } = await startIssuer()
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
  const verifier = createVerifier({ url, feedToken })
  const ways = [
    () => verifier.verify(token),
    () => jwtVerify(token, keys, { algorithms: ['ES256'], typ: 'at+jwt', issuer: url, audience: url }),
  ]
  let measured = await rates(bench.warmupSeconds / 2, ways)
  const line = await compare(bench, {
    ...{ what, rival: 'bare jwtVerify', atLeast: 0.9 },
    ours: async () => {
      measured = await rates(2 * bench.seconds, ways)
      return measured[0]!
    },
    theirs: async () => measured[1]!,
  })
  verifier.close()
  await stop()
  return line
}

export const verifications = [
  againstJose('access tokens verified by the client package'),
  againstJose('the same, with the feed of ended sessions', 'token'),
]
