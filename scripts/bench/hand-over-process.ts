/**
 * Browsers that are signed in, and the servers of the applications they are handed over to, in a process of their own. Each
 * browser has one way under way at a time.
 */
import { createHash } from 'node:crypto'
import { answerQuestions } from './child-side.ts'

export interface HandOverQuestion {
  url: string
  /** The name that the pages are known by. */
  host: string
  /** Of one browser each. */
  cookies: string[]
  application: HandedOver
  seconds: number
}

/** `authorization`: it has a secret, and asks userinfo who signed in. */
export interface HandedOver {
  id: string
  redirectUri: string
  scope: string
  authorization: string | null
}

/** Answers how many complete ways a second. */
await answerQuestions(async ({ cookies, seconds, ...question }: HandOverQuestion) => {
  const endMs = performance.now() + seconds * 1000
  const beginMs = performance.now() + Math.min(1000, seconds * 200)
  let done = 0
  const loop = async (cookie: string) => {
    while (performance.now() < endMs) {
      await goThrough(question, cookie)
      const nowMs = performance.now()
      if (nowMs >= beginMs && nowMs < endMs) done++
    }
  }
  await Promise.all(cookies.map(loop))
  return done / ((endMs - beginMs) / 1000)
})

async function goThrough(
  { url, host, application }: Pick<HandOverQuestion, 'url' | 'host' | 'application'>,
  cookie: string,
): Promise<void> {
  const { id, redirectUri, scope, authorization } = application
  const verifier = crypto.randomUUID() + crypto.randomUUID()
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: id, redirect_uri: redirectUri, state: 'state', scope },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const asked = await fetch(`${url}/oauth2/authorize?${query}`, {
    redirect: 'manual',
    headers: { host, cookie },
  })
  await asked.bytes()
  const code = new URL(asked.headers.get('location') ?? 'none:').searchParams.get('code')
  if (code === null) throw new Error(`authorize answered ${asked.status}`)
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const tokens = await read(`${url}/oauth2/token`, {
    method: 'POST',
    ...(authorization !== null && { headers: { authorization } }),
    body: new URLSearchParams(authorization === null ? { ...form, client_id: id } : form),
  })
  if (authorization === null) return
  await read(`${url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
}

async function read(url: string, init: RequestInit): Promise<{ access_token: string }> {
  const answer = await fetch(url, init)
  const body = (await answer.json()) as { access_token: string }
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${JSON.stringify(body)}`)
  return body
}
