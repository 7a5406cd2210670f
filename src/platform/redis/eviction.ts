/** Finds out whether a Redis server may throw counters and codes away to fit others. */

/** Reads from the answer to `INFO memory` the policy under which keys are evicted; null where none ever is. */
export function findEvictionPolicy(info: string): string | null {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  const policy = field('maxmemory_policy') ?? 'noeviction'
  return policy === 'noeviction' || Number(field('maxmemory') ?? 0) === 0 ? null : policy
}

export class RedisEvicts extends Error {
  override name = 'RedisEvicts'
  constructor(readonly policy: string) {
    super(
      `redis: maxmemory-policy is ${policy}, so a full Redis would forget limits and codes: set it to noeviction, or ` +
        'maxmemory to 0',
    )
  }
}
