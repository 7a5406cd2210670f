/** The account of a path below `/admin/v1/accounts`: the guard and the operation both read it here. */
import { AppError } from '../../../errors.ts'
import { isUuid } from '../../foundation/identifiers/uuid.ts'

export function readAccountUuid(named: string): string {
  if (!isUuid(named)) throw new AppError('account_not_found')
  return named
}
