/** The documents by which services that know the issuer alone find the keys of access tokens. */
import { expect, test } from 'bun:test'
import { useService } from '../helpers/use-service.ts'

const service = useService({
  settings: { server: { base_url: 'https://auth.example.com', cors_origins: ['https://app.example.com'] } },
})

const paths = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

test.each(paths)('%s names the issuer and its keys, and promises nothing else', async (path) => {
  const { status, body } = await service.call('GET', path)
  expect(status).toBe(200)
  expect(body).toEqual({
    issuer: 'https://auth.example.com',
    jwks_uri: 'https://auth.example.com/.well-known/jwks.json',
    response_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    grant_types_supported: [],
  })
})

test.each([...paths, '/.well-known/jwks.json'])(
  '%s may be read by any page and kept for five minutes',
  async (path) => {
    for (const origin of ['https://anybody.example', null]) {
      const { headers } = await service.call('GET', path, undefined, {
        headers: origin === null ? {} : { origin },
      })
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('cache-control')).toBe('public, max-age=300')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  },
)
