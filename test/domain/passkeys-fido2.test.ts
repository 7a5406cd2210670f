/** Passkeys of another implementation: the bytes that python3-fido2 writes are taken for what they are. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { useService } from '../helpers/use-service.ts'

const service = useService({ settings: { passkeys: { rp_id: 'example.com' } } })

test('a passkey by python3-fido2 is added, and signs in', async () => {
  const { person, bearer, refresh_token } = await service.signedIn()
  const script = join(import.meta.dir, '../helpers/passkey_client.py')
  const child = Bun.spawn(
    ['/usr/bin/python3', script, service.url, bearer, refresh_token, 'https://example.com'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [answer, complaints] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect(complaints).toBe('')
  const login = JSON.parse(answer) as { access_token: string; account: { email: string } }
  expect(login.account.email).toBe(person.identifier)
  expect(decodeJwt(login.access_token).amr).toEqual(['hwk', 'user', 'mfa'])
  const { passkeys } = (await service.get('passkeys', { bearer })).body
  expect(passkeys).toMatchObject([{ aaguid: 'f1d0f1d0-f1d0-f1d0-f1d0-f1d0f1d0f1d0', backed_up: false }])
})
