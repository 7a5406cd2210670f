/** Time that jumps, and faults: servers restarted under traffic, mail refused, a replica that comes and goes. */
import {
  type Account,
  endSessions,
  livingSession,
  must,
  type Owner,
  replacePassword,
  type Session,
} from './model.ts'
import type { Move } from './moves.ts'
import type { Walker } from './walker.ts'

const MINUTE_MS = 60_000

export const moveTime: Move = async ({ world, random }) => {
  const minutes = random.pick([0.1, 1, 1, 5, 11, 11, 16, 61, 61, 25 * 60])
  world.clock.advance(minutes * MINUTE_MS)
  return `${minutes} minutes pass`
}

type WithAccount = Owner & { account: Account }

/** Makes changes while a store restarts: an answered one counts, an unanswered one may be either way. */
async function changeUnderFault(
  { world, newPassword }: Walker,
  owner: WithAccount,
  session: Session,
  current: string,
): Promise<void> {
  const { account } = owner
  const password = newPassword()
  const body = { current_password: current, password, password_confirmation: password }
  const { status } = await world.ask(owner, 'POST', 'password/change', body, session.access)
  if (status === 200) {
    replacePassword(account, password)
    endSessions(account, session)
  } else if (status === 0 || status === 503) {
    account.passwords = new Set([current, password])
    for (const other of account.sessions)
      if (other !== session && other.life === 'alive') other.life = 'maybe'
  }
}

async function logInUnderFault(walker: Walker, { account, ...owner }: WithAccount, password: string) {
  const identifier = walker.identifierOf(account)
  const { status, body } = await walker.world.ask(owner, 'POST', 'login', { identifier, password })
  const right = account.twoFactor ? 202 : 200
  must([right, 0, 503, 429].includes(status), `during a fault: ${status}`)
  must(status !== 200 || body.account.uuid === account.uuid || account.uuid === '', 'another account')
}

async function traffic(walker: Walker, owner: WithAccount): Promise<void> {
  const { account } = owner
  const [current] = account.passwords
  if (current == null || account.passwords.size !== 1) return
  const session = livingSession(walker.world, account)
  if (session !== null && walker.random.oneIn(2)) await changeUnderFault(walker, owner, session, current)
  else await logInUnderFault(walker, owner, current)
}

/** Finds out which of the passwords it is, where an answer was lost. */
async function findOut(walker: Walker, owner: WithAccount): Promise<void> {
  const { account } = owner
  if (account.passwords.size < 2) return
  const right: string[] = []
  for (const password of account.passwords) {
    if (password === null) continue
    const identifier = walker.identifierOf(account)
    const { status } = await walker.world.ask(owner, 'POST', 'login', { identifier, password })
    if (status === 429) return walker.retire(owner)
    if (status < 300) right.push(password)
  }
  const mayHaveNone = account.passwords.has(null)
  must(right.length === 1 || (right.length === 0 && mayHaveNone), `${right.length} passwords are right`)
  for (const password of account.passwords)
    if (password !== null && !right.includes(password)) account.oldPasswords.add(password)
  account.passwords = new Set([right[0] ?? null])
}

async function underTraffic(walker: Walker, fault: () => Promise<void>): Promise<void> {
  const some = walker.owners.filter(({ account }) => account !== null) as WithAccount[]
  const faulted = fault()
  // Each owner does one thing at a time: what is lost is one answer.
  await Promise.all(
    some.map(async (owner) => {
      for (let i = 0; i < 3; i++) await traffic(walker, owner)
    }),
  )
  await faulted
  for (const owner of some) await findOut(walker, owner)
  await walker.world.settle()
}

export const disturb: Move = async (walker) => {
  const { world, random } = walker
  const { faults } = world
  const fault = random.pick(['redis flush', 'redis restart', 'postgres restart', 'mail', 'replica'])
  switch (fault) {
    case 'redis flush':
      await faults.flushRedis()
      break
    case 'redis restart':
      await underTraffic(walker, faults.restartRedis)
      break
    case 'postgres restart':
      await underTraffic(walker, faults.restartPostgres)
      break
    case 'mail':
      faults.mailRefuses(true)
      await Promise.all(
        walker.owners.map((owner) =>
          world.ask(owner, 'POST', 'password/forgot', { identifier: owner.email }),
        ),
      )
      await Bun.sleep(50)
      faults.mailRefuses(false)
      world.clock.advance(MINUTE_MS)
      await world.settle()
      break
    default:
      await faults.secondReplica(random.oneIn(2))
  }
  return `fault: ${fault}`
}
