/** The account of a path below `/admin/v1/accounts`: the guard and the operation both read it here. */

import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import { AppError } from '../../texts/errors.ts'

export function readAccountUuid(named: string): string {
  if (!isUuid(named)) throw new AppError('account_not_found')
  return named
}
