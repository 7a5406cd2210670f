/** Roles and scopes in bodies and answers. */
import { component } from '../../platform/http/components.ts'
import { oneWordOf } from '../../platform/http/schemas.ts'
import { roles, scopes } from './access.ts'

export const administratorRoleField = component('Role', oneWordOf(roles, 'What an administrator may do.'))
export const scopeField = component('Scope', oneWordOf(scopes, 'What a token may do.'))
