/** A line of the file of `serve --dev --seed FILE`: an account as administration makes one, and what another system knew. */
import { t } from 'elysia'
import { newAccount } from '../../administration/directory/directory-schema.ts'
import { optionalField } from '../../platform/http/schemas.ts'
import type { Language } from '../../texts/languages.ts'

export const seedLine = (languages: readonly Language[]) => {
  const { invite: _, password, ...fields } = newAccount(languages).properties
  const verifiedAt = optionalField(t.Union([t.String(), t.Boolean()]))
  return t.Object({
    ...fields,
    password: t.Optional(t.Union([t.String(), t.Object({ hash: t.String() }), t.Null()])),
    email_verified_at: verifiedAt,
    phone_verified_at: verifiedAt,
  })
}
export type SeedLine = ReturnType<typeof seedLine>['static']
