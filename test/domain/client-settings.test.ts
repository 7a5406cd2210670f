/** The settings of the server that a client can ask for before anybody has signed in. */
import { describe, expect, test } from 'bun:test'
import { builtInTags } from '../../src/texts/languages.ts'
import { useService } from '../helpers/use-service.ts'

const SETTINGS = '/api/v1/auth/settings'

describe('with settings of its own', () => {
  const service = useService({
    settings: {
      accounts: { default_country: 'BE' },
      password: { minimum_length: 12, memory_kib: 8, iterations: 1 },
      codes: { login: false, lifetime: '5m', attempts: 4 },
      limits: { enabled: true, codes_interval: '90s' },
      two_factor: { allow_email: false },
      sms: { allowed_countries: ['FR', 'BE'] },
      passkeys: { rp_id: 'example.com' },
      tokens: { access_lifetime: '10m' },
      social: {
        redirect_uris: ['https://app.example.com/done'],
        providers: [
          {
            name: 'google',
            preset: 'google',
            client_id: 'id',
            client_secret: 'a secret of the configuration',
          },
        ],
      },
    },
  })

  test('it says what the configuration says, to anybody', async () => {
    const { status, body } = await service.call('GET', SETTINGS)
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 200,
      languages: builtInTags,
      default_language: expect.any(String),
      default_country: 'BE',
      registration: { email: true, phone: true, phone_countries: ['FR', 'BE'] },
      password: { minimum_length: 12, maximum_length: 256 },
      codes: { sign_in: false, length: 6, expires_in: 300, attempts: 4, resend_after: 90 },
      two_factor: { email: false },
      passkeys: { enabled: true, rp_id: 'example.com' },
      providers: ['google'],
      tokens: {
        access_expires_in: 600,
        refresh_expires_in: 30 * 86_400,
        session_expires_in: 90 * 86_400,
        login_token_expires_in: 600,
      },
    })
    expect(JSON.stringify(body)).not.toContain('a secret of the configuration')
  })

  test('it may be read by any page, kept for five minutes, and is small', async () => {
    const { headers, body } = await service.call('GET', SETTINGS, undefined, {
      headers: { origin: 'https://anybody.example' },
    })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect(JSON.stringify(body).length).toBeLessThan(2048)
  })
})

describe('without a gateway', () => {
  const service = useService({ settings: { sms: { gateways: [], allowed_countries: ['*'] } } })

  test('it offers no telephone numbers, no passkeys and no providers', async () => {
    const { body } = await service.call('GET', SETTINGS)
    expect(body).toMatchObject({
      registration: { email: true, phone: false, phone_countries: null },
      codes: { sign_in: true, resend_after: 0 },
      passkeys: { enabled: false, rp_id: null },
      providers: [],
    })
  })
})
