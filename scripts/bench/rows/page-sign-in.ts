/** Sign-ins on the page beside logins by the JSON interface, by people without a session. */
import type { Person } from '../../../test/helpers/api-client.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { compare, ratePerSecond } from '../compare.ts'
import { apiOf, login } from '../traffic.ts'

/** So few that a full warm-up knows the browser of each, and so many that none opens a hundred sessions. */
const ACCOUNTS = 1024
const HOME = 'https://app.bench/'

/** The cookies by which a browser of somebody is known, by the identifier: who comes with a new one is sent a message. */
type KnownBrowsers = Map<string, [name: string, cookie: string]>

/** The page, the form, and the redirect after it to the page that leaves for the application. */
async function signInOnPage(url: string, person: Person, browsers: KnownBrowsers): Promise<void> {
  const known = browsers.get(person.identifier)
  const cookies = new Map(known && [known])
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = {
      host: 'auth.bench',
      cookie: [...cookies.values()].join('; '),
      'sec-fetch-site': 'same-origin',
    }
    const answer = await fetch(url + path, { ...init, redirect: 'manual', headers })
    for (const line of answer.headers.getSetCookie())
      cookies.set(line.split('=', 1)[0] as string, line.split(';', 1)[0] as string)
    return { html: await answer.text(), location: answer.headers.get('location') ?? '' }
  }
  const { html } = await send('/sign-in')
  const [, action = '/no-form'] = / action="(\/sign-in\?flow=[^"]+)"/.exec(html) ?? []
  const body = new URLSearchParams({ ...person })
  const { location } = await send(action, { method: 'POST', body })
  const left = await send(location)
  if (!left.html.includes(`0;url=${HOME}`)) throw new Error(`the form led to "${location}": ${left.location}`)
  for (const cookie of cookies)
    if (cookie[0].endsWith('poterne-browser')) browsers.set(person.identifier, cookie)
}

const compareSignIns =
  (hash: string, options: { cheapPasswords: boolean; atLeast?: number }) => async (bench: Bench) => {
    const { cheapPasswords, ...goal } = options
    const settings = { pages: { enabled: true, home: HOME } }
    const { url } = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords, settings })
    const browsers: KnownBrowsers = new Map()
    let next = 0
    const inTurn = (signIn: (number: number) => Promise<unknown>) => (seconds: number) =>
      ratePerSecond(CLIENTS, seconds, () => signIn(1 + (next++ % ACCOUNTS)))
    const onPage = inTurn((number) => signInOnPage(url, login(number), browsers))
    const byJson = inTurn((number) => apiOf(url).logIn(login(number)))
    for (const signIns of [onPage, byJson]) await signIns(bench.warmupSeconds)
    return compare(bench, {
      what: `sign-ins on the page (form, post, /leave) by known browsers, ${CLIENTS} at once, ${hash}`,
      ...{ rival: 'logins by the JSON interface', ...goal },
      ours: () => onPage(bench.seconds),
      theirs: () => byJson(bench.seconds),
    })
  }

export const pageSignIns = [
  compareSignIns('with the shipped hash', { cheapPasswords: false, atLeast: 0.9 }),
  compareSignIns('with a hash that costs nothing', { cheapPasswords: true }),
]
