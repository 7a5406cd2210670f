/** Roles and scopes in bodies and answers. */
import { t } from 'elysia'
import { component } from '../../../platform/http/components.ts'
import type { Role, Scope } from './access.ts'

const role = <Name extends Role>(name: Name) => t.Literal(name)
const scope = <Name extends Scope>(name: Name) => t.Literal(name)

export const administratorRoleField = component(
  'Role',
  t.Union([role('viewer'), role('support'), role('owner')], { description: 'What an administrator may do.' }),
)

export const scopeField = component(
  'Scope',
  t.Union(
    [
      scope('accounts:read'),
      scope('accounts:write'),
      scope('accounts:recover'),
      scope('accounts:export'),
      scope('accounts:erase'),
      scope('limits:write'),
      scope('sessions:write'),
      scope('messages:read'),
      scope('messages:write'),
      scope('events:read'),
      scope('invitations:read'),
      scope('invitations:write'),
      scope('tokens:write'),
    ],
    { description: 'What a token may do.' },
  ),
)
