/** People without a session who sign in, on the page or by the JSON interface, in a process of their own. */
import { emailOf, PASSWORD } from './accounts.ts'
import { answerQuestions } from './child-side.ts'

export interface SignInQuestion {
  url: string
  /** The name that the pages are known by. */
  host: string
  /** Signing in on the page leads there. */
  home: string
  way: 'page' | 'json'
  accounts: number
  browsers: number
  seconds: number
}

/** The cookies by which the browser of each person is known: who comes with a new one is sent a message. */
const kept = new Map<string, [name: string, cookie: string]>()

/** Answers how many sign-ins a second. */
await answerQuestions(async ({ way, accounts, browsers, seconds, ...place }: SignInQuestion) => {
  const endMs = performance.now() + seconds * 1000
  const beginMs = performance.now() + Math.min(1000, seconds * 200)
  const signIn = way === 'page' ? signInOnPage : signInByJson
  let [done, next] = [0, 0]
  const loop = async () => {
    while (performance.now() < endMs) {
      await signIn(place, emailOf(1 + (next++ % accounts)))
      const nowMs = performance.now()
      if (nowMs >= beginMs && nowMs < endMs) done++
    }
  }
  await Promise.all(Array.from({ length: browsers }, loop))
  return done / ((endMs - beginMs) / 1000)
})

type Place = Pick<SignInQuestion, 'url' | 'host' | 'home'>

/** The page, the form, and the redirect after it to the page that leaves for the application. */
async function signInOnPage({ url, host, home }: Place, identifier: string): Promise<void> {
  const known = kept.get(identifier)
  const cookies = new Map(known && [known])
  const send = async (path: string, init: RequestInit = {}) => {
    const cookie = [...cookies.values()].join('; ')
    const headers = { host, cookie, 'sec-fetch-site': 'same-origin' }
    const answer = await fetch(url + path, { ...init, redirect: 'manual', headers })
    for (const line of answer.headers.getSetCookie())
      cookies.set(line.split('=', 1)[0] as string, line.split(';', 1)[0] as string)
    return { html: await answer.text(), location: answer.headers.get('location') ?? '' }
  }
  const { html } = await send('/sign-in')
  const [, action = '/no-form'] = / action="(\/sign-in\?flow=[^"]+)"/.exec(html) ?? []
  const body = new URLSearchParams({ identifier, password: PASSWORD })
  const { location } = await send(action, { method: 'POST', body })
  const left = await send(location)
  if (!left.html.includes(`0;url=${home}`)) throw new Error(`the form led to "${location}": ${left.location}`)
  for (const cookie of cookies) if (cookie[0].endsWith('poterne-browser')) kept.set(identifier, cookie)
}

async function signInByJson({ url }: Place, identifier: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier, password: PASSWORD }),
  })
  await answer.bytes()
  if (answer.status !== 200) throw new Error(`login answered ${answer.status}`)
}
