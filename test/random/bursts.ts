/**
 * Steps in which many calls race for one thing. At most one call gets a thing that serves once, and the outcome is one
 * that some order of the calls explains.
 */
import type { Answer } from '../helpers/api-client.ts'
import {
  type Account,
  endSessions,
  expectStatus,
  must,
  nextAppCode,
  noteReset,
  type Owner,
  openSession,
  proveAccount,
  replacePassword,
} from './model.ts'
import type { Move } from './moves.ts'

const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

const successes = (answers: Answer[]) => answers.filter(({ status }) => status < 300)

const told = (answers: Answer[]) => answers.map(({ status, body }) => `${status} ${body.code}`).join(', ')

/** A limit refused them, or the day's wrong codes are used up, which these races do themselves. */
const wasLimited = (answers: Answer[]) => answers.some(({ status }) => status === 429)

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

export const logInByCodeTogether: Move = async ({ world, codes, withAccount, identifierOf, codeFrom }) => {
  const owner = withAccount()
  const { account } = owner
  const identifier = identifierOf(account)
  const [password] = account.passwords
  if (account.twoFactor && (account.app !== null || password == null)) return 'by code together: not now'
  const to = (identifier.includes('@') ? account.email : account.phone)!
  const ask = () => world.ask(owner, 'POST', '2fa/request-otp', { identifier })
  const sent = await codeFrom(to, account.twoFactor ? 'two_factor' : 'login_code', ask, 201)
  if (sent === null) return 'by code together: none came'
  const body = { identifier, otp: sent.code, ...(account.twoFactor && { password }) }
  const answers = await times(8, () => world.ask(owner, 'POST', '2fa/verify', body))
  const got = oneAtMost('a code', answers, 422)
  must(got !== null || wasLimited(answers), `a right code served nobody: ${told(answers)}`)
  if (got !== null) {
    codes.use(sent)
    openSession(world, owner, account, got.body)
  }
  return `by code together ${owner.name}`
}

/** One step of an app, or one recovery code. */
export const secondFactorTogether: Move = async ({ world, random, owners, identifierOf }) => {
  const some = owners.filter(({ account }) => account?.twoFactor && account.recovery.length > 0)
  if (some.length === 0) return 'factor together: nobody has one'
  const owner = random.pick(some) as Owner & { account: Account }
  const { account } = owner
  const [password] = account.passwords
  if (password == null) return 'factor together: no password'
  const byApp = account.app !== null && random.oneIn(2)
  const otp = byApp ? nextAppCode(world, account) : account.recovery.pop()!
  const body = { identifier: identifierOf(account), otp, password }
  const answers = await times(8, () => world.ask(owner, 'POST', '2fa/verify', body))
  const got = oneAtMost(byApp ? 'a step of an app' : 'a recovery code', answers, 422)
  must(got !== null || wasLimited(answers), `a right second factor served nobody: ${told(answers)}`)
  if (got !== null) openSession(world, owner, account, got.body)
  await world.settle()
  return `factor together ${owner.name}`
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

/** A reset with one code, several times at once, while others sign in with the old password and by code. */
export const resetTogether: Move = async ({
  world,
  codes,
  withAccount,
  identifierOf,
  codeFrom,
  newPassword,
}) => {
  const owner = withAccount()
  const { account } = owner
  const identifier = identifierOf(account)
  const to = (identifier.includes('@') ? account.email : account.phone)!
  const ask = () => world.ask(owner, 'POST', 'password/forgot', { identifier })
  const sent = await codeFrom(to, 'password_reset', ask, 201)
  if (sent === null) return 'reset together: no code came'
  const passwords = Array.from({ length: 4 }, newPassword)
  const reset = (i: number) => {
    const password = passwords[i]!
    const body = { identifier, otp: sent.code, password, password_confirmation: password }
    return world.ask(owner, 'POST', 'password/reset', body)
  }
  const [old] = account.passwords
  const logIn = () => world.ask(owner, 'POST', 'login', { identifier, password: old ?? 'none there is' })
  const [answers, logIns] = await Promise.all([times(4, reset), times(4, logIn)])
  const got = oneAtMost('a reset', answers, 422)
  must(got !== null || wasLimited(answers), `a right code reset nothing: ${told(answers)}`)
  if (got === null) return 'reset together: limited'
  codes.use(sent)
  const winner = passwords[answers.indexOf(got)]!
  for (const password of passwords) account.oldPasswords.add(password)
  noteReset(world, account, identifier, winner)
  await world.settle()
  for (const { status, body } of logIns) {
    if (status !== 200) continue
    const answer = await world.ask(owner, 'GET', 'me', undefined, body.access_token)
    must(answer.status === 401, 'a session by the old password outlived the reset')
  }
  return `reset together ${owner.name}`
}

export const changePasswordTogether: Move = async ({ world, withAccount, session, newPassword }) => {
  const owner = withAccount()
  const { account } = owner
  const one = await session(owner)
  const [current] = account.passwords
  if (one === null || current == null) return 'change together: not now'
  if (account.twoFactor) return 'change together: each call would need a code of its own'
  const passwords = Array.from({ length: 4 }, newPassword)
  const answers = await times(4, (i) => {
    const password = passwords[i]!
    const body = { current_password: current, password, password_confirmation: password }
    return world.ask(owner, 'POST', 'password/change', body, one.access)
  })
  const got = oneAtMost('a change of password', answers, 422)
  must(got !== null || wasLimited(answers), `the right password changed nothing: ${told(answers)}`)
  if (got === null) return 'change together: limited'
  for (const password of passwords) account.oldPasswords.add(password)
  replacePassword(account, passwords[answers.indexOf(got)]!)
  endSessions(account, one)
  return `change together ${owner.name}`
}

/** Five wrong tries at once, and more: then the right code is dead. */
export const guessTogether: Move = async ({ world, random, codes, withAccount, identifierOf, codeFrom }) => {
  const owner = withAccount()
  const { account } = owner
  const identifier = identifierOf(account)
  const to = (identifier.includes('@') ? account.email : account.phone)!
  const ask = () => world.ask(owner, 'POST', 'password/forgot', { identifier })
  const sent = await codeFrom(to, 'password_reset', ask, 201)
  if (sent === null) return 'guess together: none came'
  const password = 'a Guessed password'
  const tryCode = (otp: string) => {
    const body = { identifier, otp, password, password_confirmation: password }
    return world.ask(owner, 'POST', 'password/reset', body)
  }
  const wrong = () => String((Number(sent.code) + 1 + random.below(999_998)) % 1_000_000).padStart(6, '0')
  const answers = await times(8, () => tryCode(wrong()))
  must(successes(answers).length === 0, 'a wrong code served')
  if (answers.filter(({ status }) => status === 422).length < 5) return 'guess together: limited'
  const answer = await tryCode(sent.code!)
  must(answer.status !== 200, 'a code served after five wrong tries')
  codes.use(sent)
  return `guess together at ${owner.name}`
}
