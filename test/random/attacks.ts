/** Steps of those who want other people's accounts. Whatever they try, nothing becomes theirs. */
import { expectStatus, livingSession, must, proveAccount } from './model.ts'
import type { Move } from './moves.ts'

/** Registers what somebody else waits for, or has: with a password of their own. */
export const squat: Move = async ({ world, random, attackers, anyOwner, newPassword, register, spelled }) => {
  const attacker = random.pick(attackers)
  const owner = anyOwner()
  const identifier =
    owner.account?.email ??
    owner.account?.phone ??
    owner.waiting?.email ??
    owner.waiting?.phone ??
    owner.email
  const written = identifier.includes('@') ? spelled(identifier).trim() : identifier
  const password = newPassword()
  const contact = identifier.includes('@') ? { email: written } : { phone: written }
  const answer = await register(attacker, contact, password)
  if (!expectStatus(world, answer, 201)) return 'squat: limited'
  await world.settle()
  if (owner.account !== null) owner.account.oldPasswords.add(password)
  else if (owner.waiting !== null && (owner.waiting.email ?? owner.waiting.phone) === identifier) {
    // The last registration is what stands: by that contact alone.
    owner.waiting.email = identifier.includes('@') ? identifier : null
    owner.waiting.phone = identifier.includes('@') ? null : identifier
  }
  return `${attacker.name} registers ${owner.name}'s contact`
}

/** An account of their own that claims somebody else's phone. */
export const claim: Move = async (walker) => {
  const { world, random, attackers, owners, codes, newPassword, register } = walker
  const attacker = random.pick(attackers)
  if (attacker.account !== null) return 'claim: has an account'
  const password = newPassword()
  const phone = random.pick(owners).phone
  const answer = await register(attacker, { email: attacker.email, phone }, password)
  if (!expectStatus(world, answer, 201)) return 'claim: limited'
  attacker.waiting = { email: attacker.email, phone: null, tries: walker.triesOf(attacker.email) }
  await world.settle()
  const sent = codes.arrived(attacker.email, 'confirmation').at(-1)
  if (sent === undefined) return 'claim: no code came'
  const body = { identifier: attacker.email, otp: sent.code }
  if (!expectStatus(world, await world.ask(attacker, 'POST', 'verify-account', body), 201))
    return 'claim: limited'
  codes.use(sent)
  attacker.account = proveAccount(world, attacker, attacker.waiting)
  attacker.waiting = null
  return `${attacker.name} claims a phone`
}

/** Codes by chance, for every operation that takes one. */
export const guess: Move = async ({ world, random, attackers, anyOwner }) => {
  const attacker = random.pick(attackers)
  const owner = anyOwner()
  const identifier = owner.account?.email ?? owner.account?.phone ?? owner.email
  const operation = random.pick(['verify-account', '2fa/verify', 'password/reset'])
  const password = 'the Attacker wants in'
  const passwords = operation === 'password/reset' ? { password, password_confirmation: password } : {}
  for (let tries = 0; tries < 3; tries++) {
    const body = { identifier, otp: random.digits(6), ...passwords }
    const answer = await world.ask(attacker, 'POST', operation, body)
    must([422, 429].includes(answer.status), `a guessed code served: ${operation} ${answer.status}`)
  }
  return `${attacker.name} guesses at ${operation}`
}

/** Calls with the password alone of somebody who has two factors, and with the code alone. */
export const oneFactorOnly: Move = async ({ world, random, attackers, owners, identifierOf }) => {
  const some = owners.flatMap(({ account }) => (account?.twoFactor ? [account] : []))
  if (some.length === 0) return 'one factor: nobody has two'
  const account = random.pick(some)
  const attacker = random.pick(attackers)
  const identifier = identifierOf(account)
  const [password] = account.passwords
  if (password != null) {
    const answer = await world.ask(attacker, 'POST', 'login', { identifier, password })
    expectStatus(world, answer, 202)
    must(answer.body.access_token === undefined, 'a password alone gave tokens')
    const otp = random.digits(6)
    const guessed = await world.ask(attacker, 'POST', '2fa/verify', { identifier, otp, password })
    must([422, 429].includes(guessed.status), `a guessed second factor served: ${guessed.status}`)
  }
  await world.settle()
  return `${attacker.name} has one factor of ${account.owner.name}`
}

/** A stolen access token, without the password. */
export const stolenToken: Move = async ({ world, random, attackers, withAccount, newPassword }) => {
  const { account, name } = withAccount()
  const session = livingSession(world, account)
  if (session === null) return 'stolen token: no session'
  const attacker = random.pick(attackers)
  const password = 'not the password'
  const wanted = newPassword()
  const tries: [method: string, operation: string, body: object][] = [
    [
      'POST',
      'password/change',
      { current_password: password, password: wanted, password_confirmation: wanted },
    ],
    ['POST', 'email/change', { email: attacker.email, password }],
    ['POST', 'phone/change', { phone: attacker.phone, password }],
    ['POST', '2fa/totp', { password }],
    ['POST', '2fa/disable', { password, otp: '123456' }],
    ['POST', '2fa/recovery-codes', { password }],
    ['DELETE', 'me', { password }],
  ]
  const [method, operation, body] = random.pick(tries)
  const answer = await world.ask(attacker, method, operation, body, session.access)
  // 422: the wrong password. 409: an account without any password.
  must(
    [401, 409, 422, 429].includes(answer.status),
    `a stolen token was enough for ${operation}: ${answer.status}`,
  )
  return `${attacker.name} has a token of ${name}: ${operation}`
}
