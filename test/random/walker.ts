/**
 * The parts that all moves of the walk share: the people, how they get codes and sessions, and how things end for them.
 */
import type { Answer } from '../helpers/api-client.ts'
import { countTries } from './budget.ts'
import {
  type Account,
  type CodeBook,
  createCodeBook,
  expectStatus,
  livingSession,
  must,
  nextAppCode,
  type Owner,
  openSession,
  type Session,
  type Try,
} from './model.ts'
import type { Random } from './seed.ts'
import type { Actor, Arrival, World } from './world.ts'

export interface Walker {
  world: World
  random: Random
  codes: CodeBook
  owners: Owner[]
  attackers: Owner[]
  /** Accounts that nobody uses any more; what was dead there stays dead. */
  retired: Account[]
  newPassword(): string
  /** Everybody who registered that identifier by which a registration waits, since it was last proved or given up. */
  triesOf(identifier: string): Try[]
  /** Fresh identifiers for somebody whose account is gone or in doubt. */
  retire(owner: Owner): void
  anyOwner(): Owner
  withAccount(): Owner & { account: Account }
  /** The account's identifier as people may type it. */
  identifierOf(account: Account): string
  spelled(identifier: string): string
  /** The code that this call sends; null where a limit or a lost message is in the way. */
  codeFrom(
    to: string,
    purpose: Arrival['purpose'],
    call: () => Promise<Answer>,
    ...statuses: number[]
  ): Promise<Arrival | null>
  /** A living session, a new one if need be; null where a limit is in the way. */
  session(owner: Owner & { account: Account }): Promise<Session | null>
  logIn(owner: Owner & { account: Account }): Promise<Session | null>
  register(
    who: Actor,
    contact: { email?: string | null; phone?: string | null },
    password: string,
  ): Promise<Answer>
}

const OWNERS = 5

export function createWalker(uncounted: World, random: Random): Walker {
  const world = countTries(uncounted, () => [...owners, ...attackers])
  const codes = createCodeBook(world)
  const tries = new Map<string, Try[]>()
  let made = 0

  function freshContacts(name: string): { email: string; phone: string } {
    made++
    return { email: `${name}-${made}@Example.com`, phone: `+3361${String(made).padStart(7, '0')}` }
  }

  const person = (name: string, number: number): Owner => ({
    name,
    address: `203.0.113.${number}`,
    ...freshContacts(name),
    waiting: null,
    account: null,
  })
  const owners = Array.from({ length: OWNERS }, (_, i) => person(`owner${i}`, i + 1))
  const attackers = [person('mallory', 101), person('trudy', 102)]

  const spelled = (identifier: string) => {
    if (!identifier.includes('@'))
      return random.pick([identifier, identifier.replace('+33', '0033'), identifier.replace('+33', '0')])
    return random.pick([identifier, identifier.toLowerCase(), identifier.toUpperCase(), ` ${identifier} `])
  }

  const walker: Walker = {
    world,
    random,
    codes,
    owners,
    attackers,
    retired: [],
    newPassword() {
      const password = `Walnut-${++made}-${random.digits(10)}-é`
      world.secrets.passwords.add(password)
      return password
    },
    triesOf(identifier) {
      const key = identifier.trim().toLowerCase()
      const known = tries.get(key) ?? []
      tries.set(key, known)
      return known
    },
    retire(owner) {
      if (owner.account !== null) walker.retired.push(owner.account)
      owner.account = null
      owner.waiting = null
      Object.assign(owner, freshContacts(owner.name))
    },
    anyOwner: () => random.pick(owners),
    withAccount() {
      const some = [...owners, ...attackers].filter(({ account }) => account !== null)
      return random.pick(some) as Owner & { account: Account }
    },
    identifierOf: ({ email, phone }) => spelled(random.pick([email, phone].filter((one) => one !== null))),
    spelled,
    async codeFrom(to, purpose, call, ...statuses) {
      const since = world.arrivals.length
      if (!expectStatus(world, await call(), ...statuses)) return null
      await world.settle()
      return codes.newest(to, purpose, since)
    },
    async session(owner) {
      return livingSession(world, owner.account) ?? walker.logIn(owner)
    },
    async logIn(owner) {
      const { account } = owner
      const [password] = account.passwords
      if (account.passwords.size !== 1 || password == null) return null
      const identifier = walker.identifierOf(account)
      const since = world.arrivals.length
      const answer = await world.ask(owner, 'POST', 'login', {
        identifier,
        password,
        ...device(random, owner),
      })
      if (!expectStatus(world, answer, account.twoFactor ? 202 : 200)) return null
      if (!account.twoFactor) return openSession(world, owner, account, answer.body)
      return finishLogin(owner, identifier, since, answer)
    },
    async register(who, { email, phone }, password) {
      if (email) world.given.add(email)
      if (phone) world.given.add(phone)
      const body = { email, phone, password, password_confirmation: password }
      const answer = await world.ask(who, 'POST', 'register', body)
      // Each contact that was named is a try at it, also the one that gets no code.
      if (answer.status === 201)
        for (const contact of [email, phone])
          if (contact) walker.triesOf(contact).push({ who, password, atMs: world.nowMs() })
      return answer
    },
  }

  async function finishLogin(
    owner: Owner & { account: Account },
    identifier: string,
    since: number,
    due: Answer,
  ): Promise<Session | null> {
    const { account } = owner
    must(due.body.access_token === undefined, 'a token beside the second factor')
    let otp: string
    if (account.app !== null) {
      const { methods } = due.body.two_factor
      const expected = account.recovery.length > 0 ? 'totp,recovery_code' : 'totp'
      must(methods.filter((one: string) => one !== 'passkey').join() === expected, `methods ${methods}`)
      const recovery = random.oneIn(4) ? account.recovery.pop() : undefined
      otp = recovery ?? nextAppCode(world, account)
    } else {
      await world.settle()
      const sent = world.arrivals.slice(since).findLast(({ purpose }) => purpose === 'two_factor')
      if (sent === undefined) return null
      codes.use(sent)
      otp = sent.code!
    }
    const verified = await world.ask(owner, 'POST', '2fa/verify', {
      identifier,
      otp,
      login_token: due.body.two_factor.login_token,
      ...device(random, owner),
    })
    if (!expectStatus(world, verified, 200)) return null
    return openSession(world, owner, account, verified.body)
  }

  return walker
}

function device(random: Random, { name }: Actor): object {
  if (random.oneIn(3)) return {}
  return {
    device_type: random.pick(['Mobile', 'Tablette', 'Navigateur']),
    device_name: random.pick(['Pixel', '{code}', 'x\r\ny', '<b>']),
    device_fingerprint: `${name}-device`,
  }
}
