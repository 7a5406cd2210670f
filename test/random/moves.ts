/** Single steps of the walk: what people do one after the other, each checked against the model at once. */
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import {
  endSessions,
  expectStatus,
  must,
  nextAppCode,
  noteReset,
  openSession,
  proveAccount,
  replacePassword,
  stepUp,
} from './model.ts'
import type { Walker } from './walker.ts'

const ORIGIN = 'https://example.com'

/** Does something if it can; says what, for the list of steps. */
export type Move = (walker: Walker) => Promise<string>

export const register: Move = async ({ world, random, anyOwner, newPassword, ...walker }) => {
  const owner = anyOwner()
  if (owner.account !== null) return 'register: has an account'
  const kind = random.pick(['email', 'phone', 'both'])
  const password = newPassword()
  const email = kind === 'phone' ? null : owner.email
  const phone = kind === 'email' ? null : owner.phone
  const answer = await walker.register(owner, { email, phone }, password)
  if (!expectStatus(world, answer, 201)) return 'register: limited'
  owner.waiting = { email, phone, tries: walker.triesOf((email ?? phone)!) }
  await world.settle()
  return `register ${owner.name} by ${kind}`
}

/** The right code, a wrong one or an old one; for some the phone of a registration by both. */
export const confirm: Move = async ({ world, random, anyOwner, codes, spelled }) => {
  const owner = anyOwner()
  const { waiting } = owner
  if (waiting === null) return 'confirm: nothing waits'
  const identifier = (waiting.email ?? waiting.phone)!
  const arrived = codes.arrived(identifier, 'confirmation')
  const wanted = random.pick(['newest', 'newest', 'newest', 'old', 'wrong'])
  const code = wanted === 'newest' ? arrived.at(-1) : arrived.at(-2)
  const otp = wanted === 'wrong' || code === undefined ? random.digits(6) : code.code!
  const answer = await world.ask(owner, 'POST', 'verify-account', { identifier: spelled(identifier), otp })
  if (answer.status !== 201) {
    must([422, 429].includes(answer.status), `confirm: ${answer.status}`)
    return `confirm ${owner.name} ${wanted}: refused`
  }
  must(code !== undefined && codes.mayServe(code), 'a code served that cannot have')
  must(wanted !== 'old' || code.code === arrived.at(-1)?.code, 'a replaced code served')
  codes.use(code)
  owner.account = proveAccount(world, owner, waiting)
  owner.waiting = null
  return `confirm ${owner.name}`
}

export const resend: Move = async ({ world, random, anyOwner, spelled }) => {
  const owner = anyOwner()
  const identifier = spelled(owner.waiting?.email ?? owner.waiting?.phone ?? owner.email)
  const path = random.pick(['resend-verification', 'resend-confirmation'])
  expectStatus(world, await world.ask(owner, 'POST', path, { identifier }), 201)
  await world.settle()
  return `resend to ${owner.name}`
}

export const logIn: Move = async ({ withAccount, logIn }) => {
  const owner = withAccount()
  return `sign in ${owner.name}: ${(await logIn(owner)) === null ? 'no' : 'yes'}`
}

/** Old passwords, those of others, and none at all. */
export const logInWrongly: Move = async ({ world, random, withAccount, identifierOf }) => {
  const { account, ...owner } = withAccount()
  const password = random.pick([...account.oldPasswords, 'not the password'])
  const identifier = identifierOf(account)
  const answer = await world.ask(owner, 'POST', 'login', { identifier, password })
  expectStatus(world, answer, 401)
  must(!account.passwords.has(password), 'an old password is the present one')
  return `sign in ${owner.name} wrongly`
}

/** Login by code alone, or a try of it where two factors are on. */
export const logInByCode: Move = async ({ world, codes, withAccount, codeFrom, identifierOf }) => {
  const owner = withAccount()
  const { account } = owner
  const identifier = identifierOf(account)
  const to = (identifier.includes('@') ? account.email : account.phone)!
  const ask = () => world.ask(owner, 'POST', '2fa/request-otp', { identifier })
  const sent = await codeFrom(to, account.twoFactor ? 'two_factor' : 'login_code', ask, 201)
  if (sent === null) return 'sign in by code: none came'
  const answer = await world.ask(owner, 'POST', '2fa/verify', { identifier, otp: sent.code })
  if (account.twoFactor) {
    // The password may have been proved a moment ago, by a login that was left.
    if (answer.status === 200) codes.use(sent)
    else expectStatus(world, answer, 422)
    if (answer.status === 200) openSession(world, owner, account, answer.body)
    return `sign in ${owner.name} by code alone: ${answer.status}`
  }
  if (expectStatus(world, answer, 200)) {
    codes.use(sent)
    openSession(world, owner, account, answer.body)
  }
  return `sign in ${owner.name} by code`
}

/** Every code that served once, on whatever asks for one. */
export const replay: Move = async ({ world, random, codes, owners }) => {
  const old = codes.used()
  if (old.length === 0) return 'replay: no code served yet'
  const { to, code } = random.pick(old)
  const operation = random.pick(['verify-account', '2fa/verify', 'password/reset'])
  const password = 'a Replayed password'
  const passwords = operation === 'password/reset' ? { password, password_confirmation: password } : {}
  const answer = await world.ask(owners[0]!, 'POST', operation, { identifier: to, otp: code, ...passwords })
  must([422, 429].includes(answer.status), `a used code served again: ${operation} ${answer.status}`)
  return `replay ${operation}`
}

export const refresh: Move = async ({ world, random, withAccount }) => {
  const owner = withAccount()
  const alive = owner.account.sessions.filter(({ life }) => life === 'alive')
  if (alive.length === 0) return 'refresh: no session'
  const session = random.pick(alive)
  const { stale } = session
  if (stale.length > 0 && random.oneIn(3)) {
    const late = world.nowMs() - session.refreshedMs > 35_000
    const answer = await world.ask(owner, 'POST', 'refresh', { refresh_token: stale.at(-1) })
    if (late || stale.length > 1) must(answer.status !== 200 || !late, 'a stolen token was refreshed')
    if (answer.status === 200) must(answer.body.refresh_token === session.refresh, 'another successor')
    else session.life = 'dead'
    return `refresh ${owner.name} with a replaced token: ${answer.status}`
  }
  const answer = await world.ask(owner, 'POST', 'refresh', { refresh_token: session.refresh })
  const idle = world.nowMs() - session.refreshedMs > 29 * 86_400_000
  if (idle && answer.status === 401) {
    session.life = 'dead'
    return `refresh ${owner.name}: idle for too long`
  }
  if (!expectStatus(world, answer, 200)) return 'refresh: limited'
  stale.push(session.refresh)
  session.refresh = answer.body.refresh_token
  session.access = answer.body.access_token
  session.accessEndsMs = world.nowMs() + 15 * 60_000
  session.refreshedMs = world.nowMs()
  return `refresh ${owner.name}`
}

export const logOut: Move = async ({ world, random, withAccount, session }) => {
  const owner = withAccount()
  const one = await session(owner)
  if (one === null) return 'log out: no session'
  if (random.oneIn(4)) {
    if (expectStatus(world, await world.ask(owner, 'POST', 'logout-all', {}, one.access), 200))
      endSessions(owner.account)
    return `log out ${owner.name} everywhere`
  }
  const token = random.oneIn(2) ? { refresh_token: one.refresh } : {}
  if (expectStatus(world, await world.ask(owner, 'POST', 'logout', token, one.access), 200)) one.life = 'dead'
  return `log out ${owner.name}`
}

export const resetPassword: Move = async ({
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
  if (sent === null) return 'reset: no code came'
  const password = newPassword()
  const body = { identifier, otp: sent.code, password, password_confirmation: password }
  if (!expectStatus(world, await world.ask(owner, 'POST', 'password/reset', body), 200))
    return 'reset: limited'
  codes.use(sent)
  noteReset(world, account, identifier, password)
  return `reset the password of ${owner.name}`
}

export const changePassword: Move = async ({ world, withAccount, session, newPassword }) => {
  const owner = withAccount()
  const one = await session(owner)
  const [current] = owner.account.passwords
  if (one === null || current == null || owner.account.passwords.size !== 1) return 'change: no session'
  const password = newPassword()
  const proof = stepUp(world, owner.account)
  if (proof === null) return 'change: no code at hand'
  const body = { current_password: current, password, password_confirmation: password, ...proof }
  if (!expectStatus(world, await world.ask(owner, 'POST', 'password/change', body, one.access), 200))
    return 'change: limited'
  replacePassword(owner.account, password)
  endSessions(owner.account, one)
  return `change the password of ${owner.name}`
}

export const enableByCode: Move = async ({ world, codes, withAccount, session, codeFrom }) => {
  const owner = withAccount()
  const { account } = owner
  const one = await session(owner)
  const [password] = account.passwords
  if (one === null || password == null || account.twoFactor) return 'enable: not now'
  const ask = () => world.ask(owner, 'POST', '2fa/enable', { password }, one.access)
  const sent = await codeFrom((account.email ?? account.phone)!, 'two_factor_enrolment', ask, 201)
  if (sent === null) return 'enable: no code came'
  const answer = await world.ask(owner, 'POST', '2fa/enable/confirm', { otp: sent.code }, one.access)
  if (!expectStatus(world, answer, 200)) return 'enable: limited'
  codes.use(sent)
  account.twoFactor = true
  account.recovery = answer.body.recovery_codes
  for (const other of account.sessions) if (other.single && other !== one) other.life = 'dead'
  one.single = false
  return `two factors for ${owner.name} by sent codes`
}

export const enableApp: Move = async ({ world, withAccount, session }) => {
  const owner = withAccount()
  const { account } = owner
  const one = await session(owner)
  const [password] = account.passwords
  if (one === null || password == null) return 'app: not now'
  const proof = stepUp(world, account)
  if (proof === null) return 'app: no code at hand'
  const asked = await world.ask(owner, 'POST', '2fa/totp', { password, ...proof }, one.access)
  if (!expectStatus(world, asked, 200)) return 'app: limited'
  const next = { ...account, app: asked.body.secret as string, lastStep: 0 }
  const answer = await world.ask(
    owner,
    'POST',
    '2fa/totp/confirm',
    { otp: nextAppCode(world, next) },
    one.access,
  )
  if (!expectStatus(world, answer, 200)) return 'app: limited'
  account.app = next.app
  account.lastStep = next.lastStep
  account.twoFactor = true
  account.recovery = answer.body.recovery_codes
  for (const other of account.sessions) if (other.single && other !== one) other.life = 'dead'
  one.single = false
  return `two factors for ${owner.name} by app`
}

export const disable: Move = async ({ world, withAccount, session }) => {
  const owner = withAccount()
  const { account } = owner
  const one = await session(owner)
  const [password] = account.passwords
  if (one === null || password == null || !account.twoFactor) return 'disable: not now'
  const proof = stepUp(world, account)
  if (proof === null) return 'disable: no code at hand'
  const off = await world.ask(owner, 'POST', '2fa/disable', { password, ...proof }, one.access)
  if (!expectStatus(world, off, 200)) return 'disable: limited'
  account.twoFactor = false
  account.app = null
  account.recovery = []
  return `one factor again for ${owner.name}`
}

/** Added, used once and not twice, removed, and then unknown. */
export const usePasskey: Move = async ({ world, withAccount, session }) => {
  const owner = withAccount()
  const { account } = owner
  const one = await session(owner)
  const [password] = account.passwords
  if (one === null || password == null) return 'passkey: not now'
  const proof = stepUp(world, account)
  if (proof === null) return 'passkey: no code at hand'
  const ask = (operation: string, body: object, bearer?: string) =>
    world.ask(owner, 'POST', `passkeys/${operation}`, body, bearer)
  const asked = await ask('registration/options', { password, ...proof }, one.access)
  if (!expectStatus(world, asked, 200, 409)) return 'passkey: limited'
  const { passkey, credential } = createPasskey(asked.body.options, ORIGIN)
  const added = await ask('registration', { credential }, one.access)
  if (!expectStatus(world, added, 201)) return 'passkey: limited'
  const signed = async () => {
    const { status, body } = await ask('login/options', {})
    return status === 200 ? { credential: signWithPasskey(passkey, body.options, ORIGIN) } : null
  }
  const assertion = await signed()
  const login = assertion && (await ask('login', assertion))
  if (login === null || !expectStatus(world, login, 200)) return 'passkey: limited'
  const opened = openSession(world, owner, account, login.body)
  opened.single = false
  const again = await ask('login', assertion!)
  must(again.status !== 200, 'a signature of a passkey served twice')
  const { id } = added.body.passkey
  const fresh = { refresh_token: opened.refresh }
  const removed = await world.ask(owner, 'DELETE', `passkeys/${id}`, fresh, opened.access)
  if (!expectStatus(world, removed, 200)) return 'passkey: limited'
  const late = await signed()
  const after = late && (await ask('login', late))
  if (after !== null) must([401, 429].includes(after.status), `a removed passkey signs in: ${after.status}`)
  return `a passkey of ${owner.name}`
}

export const changeContact: Move = async (walker) => {
  const { world, random, codes, withAccount, session, codeFrom } = walker
  const owner = withAccount()
  const { account } = owner
  const one = await session(owner)
  const [password] = account.passwords
  if (one === null || password == null) return 'contact: not now'
  const kind = random.pick(['email', 'phone'] as const)
  const fresh = kind === 'email' ? `changed-${random.digits(9)}@example.org` : `+3362${random.digits(7)}`
  world.given.add(fresh)
  const proof = stepUp(world, account)
  if (proof === null) return 'contact: no code at hand'
  const body = { [kind]: fresh, password, ...proof }
  const ask = () => world.ask(owner, 'POST', `${kind}/change`, body, one.access)
  const sent = await codeFrom(fresh, `${kind}_change`, ask, 201)
  if (sent === null) return 'contact: no code came'
  const answer = await world.ask(owner, 'POST', `${kind}/confirm`, { otp: sent.code }, one.access)
  if (!expectStatus(world, answer, 200)) return 'contact: limited'
  codes.use(sent)
  must(answer.body.account[kind] === fresh, `the ${kind} is ${answer.body.account[kind]}`)
  account[kind] = fresh
  account.addedAtMs[kind] = world.nowMs()
  return `change the ${kind} of ${owner.name}`
}

export const erase: Move = async ({ world, withAccount, session, retire }) => {
  const owner = withAccount()
  const one = await session(owner)
  const [password] = owner.account.passwords
  if (one === null || password == null) return 'erase: not now'
  const proof = stepUp(world, owner.account)
  if (proof === null) return 'erase: no code at hand'
  const erased = await world.ask(owner, 'DELETE', 'me', { password, ...proof }, one.access)
  if (!expectStatus(world, erased, 200)) return 'erase: limited'
  endSessions(owner.account)
  for (const old of owner.account.passwords) if (old !== null) owner.account.oldPasswords.add(old)
  retire(owner)
  return `erase ${owner.name}`
}

/** A dead session stays dead, a living one lives: one of each kind is asked. */
export const look: Move = async ({ world, random, owners, attackers, retired }) => {
  const accounts = [...retired, ...[...owners, ...attackers].flatMap(({ account }) => account ?? [])]
  const sessions = accounts.flatMap(({ uuid, sessions }) => sessions.map((session) => ({ uuid, session })))
  for (const life of ['alive', 'dead'] as const) {
    const some = sessions.filter(({ session }) => session.life === life)
    if (some.length === 0) continue
    const { uuid, session } = random.pick(some)
    const answer = await world.ask(owners[0]!, 'GET', 'me', undefined, session.access)
    const shouldLive = life === 'alive' && session.accessEndsMs > world.nowMs() + 1000
    const idle = world.nowMs() - session.refreshedMs > 29 * 86_400_000
    if (shouldLive && !idle) must(answer.status === 200, `a living session is refused: ${answer.status}`)
    if (life === 'dead') must(answer.status === 401, `a dead session lives: ${answer.status}`)
    if (answer.status === 200) must(answer.body.account.uuid === uuid, 'a session of another account')
  }
  return 'look'
}
