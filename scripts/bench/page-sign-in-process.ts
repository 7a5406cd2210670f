/** Browsers without a session that sign in, on the page or by the JSON interface, in a process of their own. */
import { openBrowser } from '../../test/helpers/page-browser.ts'
import { emailOf, PASSWORD } from './accounts.ts'
import { answerQuestions } from './child-side.ts'

export interface SignInQuestion {
  url: string
  /** The name that the pages are known by. */
  host: string
  way: 'page' | 'json'
  accounts: number
  browsers: number
  seconds: number
}

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

type Place = Pick<SignInQuestion, 'url' | 'host'>

/** The page, the form, and the redirects after it to the person's account, which is drawn too. */
async function signInOnPage({ url, host }: Place, identifier: string): Promise<void> {
  const browser = await openBrowser(url, { host }).open('/sign-in')
  await browser.press('Sign in', { identifier, password: PASSWORD })
  if (browser.path !== '/account') throw new Error(`the page led to ${browser.address}: ${browser.said}`)
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
