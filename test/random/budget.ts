/**
 * The day's wrong codes, as callers can know them. An account that has used them up refuses a right code like a wrong
 * one, by every other name of it. Such a refusal is told apart here, and nowhere else.
 */
import type { Owner } from './model.ts'
import type { World } from './world.ts'

/** The daily budget is 20 wrong codes for each account and purpose. Calls are counted, some of which were right. */
const A_DAY = 20
const DAY_MS = 86_400_000

const PURPOSES: Record<string, string> = {
  'verify-account': 'confirmation',
  'password/reset': 'password_reset',
  '2fa/verify': 'two_factor',
  '2fa/disable': 'step_up',
  '2fa/totp': 'step_up',
  'password/change': 'step_up',
  'email/change': 'step_up',
  'phone/change': 'step_up',
  me: 'step_up',
  '2fa/enable/confirm': 'two_factor_enrolment',
  '2fa/totp/confirm': 'two_factor_enrolment',
  'email/confirm': 'email_change',
  'phone/confirm': 'phone_change',
}

/** The world, with a refusal that may be for want of budget told as `too_many_attempts`. */
export function countTries(world: World, people: () => Owner[]): World {
  const tries = new Map<string, number>()

  function ownerOf(identifier: string): string {
    const key = identifier
      .trim()
      .toLowerCase()
      .replace(/^(00|0)(33)?/, '+33')
    const has = ({ account, waiting, ...own }: Owner) =>
      [account?.email, account?.phone, waiting?.email, waiting?.phone, own.email, own.phone].some(
        (one) => one?.toLowerCase() === key,
      )
    return people().find(has)?.name ?? key
  }

  return {
    ...world,
    async ask(who, method, operation, body, bearer) {
      const purpose = PURPOSES[operation]
      if (purpose === undefined) return world.ask(who, method, operation, body, bearer)
      const { identifier } = (body ?? {}) as { identifier?: string }
      const day = Math.floor(world.nowMs() / DAY_MS)
      const name = `${day} ${purpose} ${identifier === undefined ? who.name : ownerOf(identifier)}`
      tries.set(name, (tries.get(name) ?? 0) + 1)
      const answer = await world.ask(who, method, operation, body, bearer)
      const spent = answer.body.code === 'invalid_code' && tries.get(name)! > A_DAY
      return spent ? { ...answer, status: 429, body: { ...answer.body, code: 'too_many_attempts' } } : answer
    },
  }
}
