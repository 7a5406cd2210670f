/** A path that is written out is not one with a parameter, whatever the method. */
import { expect, test } from 'bun:test'
import { useService } from '../helpers/use-service.ts'

const service = useService({
  settings: { passkeys: { rp_id: 'example.com', origins: ['https://example.com'] } },
})

test('passkeys/login is no passkey with that id', async () => {
  for (const method of ['PATCH', 'DELETE', 'PUT', 'GET']) {
    const { status, headers } = await service.call(method, '/api/v1/auth/passkeys/login')
    expect([method, status, headers.get('allow')]).toEqual([method, 405, 'OPTIONS, POST'])
  }
  const options = await service.call('OPTIONS', '/api/v1/auth/passkeys/login')
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'OPTIONS, POST'])
  expect((await service.call('DELETE', `/api/v1/auth/passkeys/${crypto.randomUUID()}`)).status).toBe(401)
})
