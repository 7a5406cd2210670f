/** The roles and groups that administration suggests. */
import { expect, test } from 'bun:test'
import { asOperator, listening, onListener } from '../helpers/administration.ts'
import { newEmail } from '../helpers/api-client.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService({ settings: { ...listening, roles: { 7: 'editor', 9: 'auditor' } } })

test('the roles that have a name and the groups in use are listed, counted at most once a minute', async () => {
  const read = async () => (await asOperator(service, 'GET', 'groups')).body
  const add = (groups: string[]) =>
    asOperator(service, 'POST', 'accounts', { email: newEmail(), groups, verified: true })
  await add(['staff', 'beta'])
  await add(['staff'])
  expect(await read()).toMatchObject({
    roles: [
      { id: 7, name: 'editor' },
      { id: 9, name: 'auditor' },
    ],
    groups: ['beta', 'staff'],
  })
  await add(['admins'])
  expect((await read()).groups).toEqual(['beta', 'staff'])
  service.clock.advance(60_000)
  expect((await read()).groups).toEqual(['admins', 'beta', 'staff'])
})

test('a token needs accounts:read for them', async () => {
  const readWith = async (scope: string) => {
    const { token } = (
      await asOperator(service, 'POST', 'tokens', { name: 'test', scopes: [scope], expires_in: '1d' })
    ).body
    return onListener(service, 'GET', 'groups', undefined, { headers: { authorization: `Bearer ${token}` } })
  }
  expect((await readWith('accounts:read')).status).toBe(200)
  expectRefusal(await readWith('limits:write'), 'insufficient_scope')
})
