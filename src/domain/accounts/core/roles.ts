/** The names of roles, which are taken wherever the number of a role is. */
import { closest } from 'fastest-levenshtein'
import { invalid, parseWholeNumber } from '../../../platform/http/read-values.ts'
import { AppError } from '../../../texts/errors.ts'

/** Fits a column of four bytes. */
export const roleBounds = { minimum: 0, maximum: 2 ** 31 - 1 }

export type Roles = ReturnType<typeof createRoles>

/** `names` by their numbers, as the configuration has them. */
export function createRoles(names: Record<string, string>) {
  const ids = new Map(Object.entries(names).map(([id, name]) => [name, Number(id)]))
  return {
    /** The number as text where the role has no name. */
    nameOf: (roleId: number): string => (Object.hasOwn(names, roleId) ? names[roleId]! : String(roleId)),
    /** Those that have a name, by their numbers. */
    named: (): { id: number; name: string }[] =>
      Object.entries(names).map(([id, name]) => ({ id: Number(id), name })),
    /** A number, its digits or a name. An unknown role is refused on `field`, and the refusal names the nearest role. */
    read(field: string, typed: number | string): number {
      if (typeof typed === 'number') return typed
      const id = ids.get(typed) ?? parseWholeNumber(typed, roleBounds)
      if (id !== null) return id
      if (ids.size === 0 || !/^[a-z]/i.test(typed)) throw invalid(field)
      const nearest = closest(typed, [...ids.keys()])
      throw new AppError('validation_failed', { fields: [{ field, code: 'unknown_role', nearest }] })
    },
  }
}
