/**
 * Steps in which many calls race, some of them for different ends: the outcome is one that some order of the calls
 * explains. Calls that race for one code, or one factor, are in the tests of their operations.
 */
import type { Answer } from '../helpers/api-client.ts'
import { expectStatus, must, proveAccount } from './model.ts'
import type { Move } from './moves.ts'

const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

const successes = (answers: Answer[]) => answers.filter(({ status }) => status < 300)

/** No 2xx beyond one, and nothing but the refusals given. */
function oneAtMost(what: string, answers: Answer[], ...refusals: number[]): Answer | null {
  const right = successes(answers)
  must(right.length <= 1, `${right.length} of ${answers.length} calls got ${what}`)
  const odd = answers.find(({ status }) => status >= 300 && ![...refusals, 429, 503].includes(status))
  must(odd === undefined, `${what}: ${odd?.status} ${JSON.stringify(odd?.body)}`)
  return right[0] ?? null
}

/** Confirming races with itself, and with somebody who registers the same again. */
export const confirmTogether: Move = async (walker) => {
  const { world, random, codes, anyOwner, attackers, newPassword } = walker
  const owner = anyOwner()
  const { waiting } = owner
  if (waiting === null) return 'confirm together: nothing waits'
  const identifier = (waiting.email ?? waiting.phone)!
  const code = codes.arrived(identifier, 'confirmation').at(-1)
  if (code === undefined) return 'confirm together: no code'
  const rival = random.oneIn(2) ? random.pick(attackers) : null
  const password = newPassword()
  const contact = waiting.email === null ? { phone: identifier } : { email: identifier }
  // The account is as it is without the rival, who may be late, in time, or in between.
  const account = proveAccount(world, owner, waiting)
  const rivals = rival === null ? [] : [walker.register(rival, contact, password)]
  const confirm = () => world.ask(owner, 'POST', 'verify-account', { identifier, otp: code.code })
  const [confirmed, registered] = await Promise.all([times(6, confirm), Promise.all(rivals)])
  await world.settle()
  const got = oneAtMost('a confirmation', confirmed, 422)
  if (got === null) {
    if (registered.length > 0) walker.retire(owner)
    return `confirm together ${owner.name}: none`
  }
  must(codes.mayServe(code), 'a code served that cannot have')
  codes.use(code)
  if (rival !== null) account.passwords = new Set([null, ...account.passwords])
  account.oldPasswords.add(password)
  owner.account = account
  owner.waiting = null
  if (rival !== null) {
    const answer = await world.ask(rival, 'POST', 'login', { identifier, password })
    must(answer.status !== 200 && answer.status !== 202, 'the rival owns the account')
  }
  return `confirm together ${owner.name}`
}

/** Many registrations of one identifier: one account, and a code that comes and serves. */
export const registerTogether: Move = async (walker) => {
  const { world, codes, anyOwner, newPassword } = walker
  const owner = anyOwner()
  if (owner.account !== null || owner.waiting !== null) return 'register together: not now'
  const password = newPassword()
  const since = world.arrivals.length
  const answers = await times(4, () => walker.register(owner, { email: owner.email }, password))
  for (const answer of answers) expectStatus(world, answer, 201)
  if (successes(answers).length === 0) return 'register together: limited'
  owner.waiting = { email: owner.email, phone: null, tries: walker.triesOf(owner.email) }
  await world.settle()
  const sent = world.arrivals.slice(since).filter(({ purpose }) => purpose === 'confirmation')
  for (const code of sent.toReversed().slice(0, 4)) {
    const body = { identifier: owner.email, otp: code.code }
    const answer = await world.ask(owner, 'POST', 'verify-account', body)
    if (!expectStatus(world, answer, 201, 422)) continue
    codes.use(code)
    owner.account = proveAccount(world, owner, owner.waiting)
    owner.waiting = null
    return `register together ${owner.name}`
  }
  must(world.limited, `none of the ${sent.length} codes that came serves`)
  return `register together ${owner.name}: limited`
}

export const refreshTogether: Move = async ({ world, random, withAccount }) => {
  const owner = withAccount()
  const alive = owner.account.sessions.filter(
    ({ life, refreshedMs }) => life === 'alive' && world.nowMs() - refreshedMs < 20 * 86_400_000,
  )
  if (alive.length === 0) return 'refresh together: no session'
  const session = random.pick(alive)
  const leaves = random.oneIn(3)
  const refresh = () => world.ask(owner, 'POST', 'refresh', { refresh_token: session.refresh })
  const leaving = leaves ? [world.ask(owner, 'POST', 'logout', { refresh_token: session.refresh })] : []
  const [answers, left] = await Promise.all([times(12, refresh), Promise.all(leaving)])
  const right = successes(answers)
  const successors = new Set(right.map(({ body }) => body.refresh_token))
  must(successors.size <= 1, `${successors.size} successors of one refresh token`)
  if (!leaves) for (const answer of answers) expectStatus(world, answer, 200)
  const [newest] = right
  if (newest !== undefined) {
    session.stale.push(session.refresh)
    session.refresh = newest.body.refresh_token
    session.access = newest.body.access_token
    session.accessEndsMs = world.nowMs() + 15 * 60_000
    session.refreshedMs = world.nowMs()
  }
  if (left[0]?.status === 200) {
    session.life = 'dead'
    const answer = await world.ask(owner, 'GET', 'me', undefined, session.access)
    must(answer.status === 401, 'a session outlived its logout')
  }
  return `refresh together ${owner.name}${leaves ? ', and log out' : ''}`
}
