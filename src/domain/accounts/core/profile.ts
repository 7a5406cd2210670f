/** Reads the profile of an account's person, and the groups that it is in. */

import { isGroupName } from '../../../platform/config/formats.ts'
import { type Profile, type ProfileField, profileFields } from '../../../platform/postgres/schema.ts'
import { AppError, type FieldErrorCode } from '../../../texts/errors.ts'

export type { Profile }

/** The names of the fields, in their order. */
export const profileNames = Object.keys(profileFields) as ProfileField[]

type AskedField = {
  [Field in ProfileField]: (typeof profileFields)[Field]['autocomplete'] extends null ? never : Field
}[ProfileField]

/** The fields that people are asked for on their page, which has a text of each name. */
export const askedFields = profileNames.filter(
  (field): field is AskedField => profileFields[field].autocomplete !== null,
)

export const MAXIMUM_GROUPS = 32
/** The size of all values together, in UTF-8. */
const PROFILE_BYTES = 2048
const FIELD_CHARACTERS = 200

/** Null removes a field. */
export type ProfilePatch = { [Field in keyof Profile]?: string | null | undefined }

/** Control characters, line separators, and what turns the direction of the text around it. */
const REFUSED = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

const refuse = (field: string, code: FieldErrorCode) =>
  new AppError('validation_failed', { fields: [{ field, code }] })

/** The fields that a patch names; an empty text removes a field, too. */
export function readProfile(
  typed: ProfilePatch,
  { mayHavePicture }: { mayHavePicture: boolean },
): ProfilePatch {
  const named = profileNames.filter((field) => typed[field] !== undefined)
  if (!mayHavePicture && named.includes('picture')) throw refuse('profile.picture', 'not_allowed')
  return Object.fromEntries(
    named.map((field) => {
      const text = typed[field] ?? ''
      if ([...text].length > FIELD_CHARACTERS) throw refuse(`profile.${field}`, 'too_long')
      if (REFUSED.test(text) || !text.isWellFormed()) throw refuse(`profile.${field}`, 'invalid_characters')
      return [field, text === '' ? null : text]
    }),
  )
}

/** The profile as it is after the patch; null where nothing is left. */
export function mergeProfile(before: Profile | null, patch: ProfilePatch): Profile | null {
  const merged = Object.entries({ ...before, ...patch }).filter(([, text]) => typeof text === 'string')
  const bytes = merged.reduce((sum, [, text]) => sum + Buffer.byteLength(text as string), 0)
  if (bytes > PROFILE_BYTES) throw refuse('profile', 'too_long')
  return merged.length === 0 ? null : (Object.fromEntries(merged) as Profile)
}

/** All groups, or some to join and to leave. */
export type GroupsPatch = string[] | { add?: string[] | undefined; remove?: string[] | undefined }

/** The groups as they are after the patch, in the order of their names; null: none. */
export function mergeGroups(before: string[] | null, patch: GroupsPatch): string[] | null {
  const { add = [], remove = [] } = Array.isArray(patch) ? { add: patch } : patch
  if (![...add, ...remove].every(isGroupName)) throw refuse('groups', 'invalid_value')
  const removed = new Set(remove)
  const kept = Array.isArray(patch) ? [] : (before ?? [])
  const groups = [...new Set([...kept, ...add])].filter((name) => !removed.has(name)).sort()
  if (groups.length > MAXIMUM_GROUPS) throw refuse('groups', 'too_long')
  return groups.length === 0 ? null : groups
}
