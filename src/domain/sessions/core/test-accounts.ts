/** The bounds of a session of an account that a test identity opened, whose code is published. */
import { AppError } from '../../../texts/errors.ts'
import type { Authenticated } from './authentication.ts'

/** Everything else that changes something is refused, and so is every operation that is added later. */
const ALLOWED: ReadonlySet<string> = new Set([
  'PATCH /api/v1/auth/me',
  'DELETE /api/v1/auth/me',
  'POST /api/v1/auth/me/remove',
  'POST /account/language',
  'POST /account/delete',
  'POST /account/export',
  'POST /account/sign-in-again',
])

/** The operation is its method and path. `PATCH me` decides by itself which fields may change. */
export function requireMayCall({ account }: Pick<Authenticated, 'account'>, operation: string): void {
  if (!account.testIdentity || /^(GET|HEAD) /.test(operation) || ALLOWED.has(operation)) return
  throw new AppError('test_identity')
}
