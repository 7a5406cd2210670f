/** `serve --dev --seed`: the people of the log can sign in, and one of them on the page of administration. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { appCode, PERIOD_MS } from '../helpers/authenticator.ts'
import { spawnExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

interface Line {
  msg: string
  url?: string
  email?: string
  password?: string
  about?: string
  appSecret?: string
  administration?: string
}

async function start(directory: string) {
  const service = await spawnExecutable(['serve', '--dev', '--seed', '--json'], {
    directory,
    env: { POTERNE_SERVER_PORT: '0' },
  })
  const lines = () =>
    service
      .stdout()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
  const people = () => lines().filter(({ msg }) => msg === 'you can sign in as')
  await waitFor(() => people().length === 3, { what: 'three people', timeoutMs: 30_000 })
  const urlOf = (message: string) => lines().find(({ msg }) => msg === message)!.url!
  const stop = async () => {
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)
  }
  return { people: people(), url: urlOf('listening'), administration: urlOf('administration listens'), stop }
}

const send = (url: string, body: object, cookie = '') =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie },
    body: JSON.stringify(body),
  })

test('each is there as described, also after another start, and one opens the page of administration', async () => {
  const directory = newDirectory('seeded')
  const first = await start(directory)
  const [owner, locked, unconfirmed] = first.people
  const { appSecret = '' } = owner!
  expect(first.people.map(({ administration }) => administration)).toEqual(['owner', undefined, undefined])
  const logIn = ({ email, password }: Line) =>
    send(`${first.url}/api/v1/auth/login`, { identifier: email, password })
  expect((await logIn(owner!)).status).toBe(202)
  expect(await (await logIn(locked!)).json()).toMatchObject({ code: 'account_locked' })
  expect(await (await logIn(unconfirmed!)).json()).toMatchObject({ code: 'account_unconfirmed' })
  await first.stop()

  const again = await start(directory)
  const api = new URL('v1/session', again.administration).href
  const begun = await send(api, { identifier: owner!.email, password: owner!.password })
  const [cookie = ''] = begun.headers.getSetCookie()[0]!.split(';')
  const otp = appCode(appSecret, new Date(Date.now() + PERIOD_MS))
  const opened = await send(`${api}/verify`, { otp }, cookie)
  expect(await opened.json()).toMatchObject({ status: 200, csrf_token: expect.any(String) })
  await again.stop()
})
