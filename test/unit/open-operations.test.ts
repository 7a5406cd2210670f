/** The check that names every operation which needs no access token. */
import { expect, test } from 'bun:test'
import { checkOpenOperations, findUnnamed } from '../../scripts/checks/open-operations.ts'

const PLACE = 'scripts/checks/open-operations.ts:'
const token = { security: [{ accessToken: [] }], responses: { 200: {} } }
const named = { limited: ['logIn'], unlimited: ['healthz'] }
const paths = {
  '/login': { post: { operationId: 'logIn', responses: { 200: {}, 429: {} } } },
  '/healthz': { get: { operationId: 'healthz', responses: { 200: {} } } },
  '/me': { get: { operationId: 'getAccount', ...token } },
}

test('finds nothing where the open operations are those that are named', async () => {
  expect(findUnnamed(paths, named)).toEqual([])
  expect(await checkOpenOperations()).toEqual([])
})

test.each([
  ['an operation without a token', { security: [], responses: { 200: {} } }],
  ['an operation whose token is optional', { ...token, security: [{ accessToken: [] }, {}] }],
])('finds %s that is not named', (_, operation) => {
  const opened = { ...paths, '/me': { get: { operationId: 'getAccount', ...operation } } }
  expect(findUnnamed(opened, named)).toEqual([
    `${PLACE} getAccount is unlimited and needs no access token: name it, if that is meant`,
  ])
})

test('finds an open operation that lost its limit, and one that is gone', () => {
  const changed = { '/login': { post: { operationId: 'logIn', responses: { 200: {} } } } }
  expect(findUnnamed(changed, named)).toEqual([
    `${PLACE} logIn is named as limited and open, and is not`,
    `${PLACE} logIn is unlimited and needs no access token: name it, if that is meant`,
    `${PLACE} healthz is named as unlimited and open, and is not`,
  ])
})
