/** The number of changes of contact that may be asked for. */
import { describe, expect, test } from 'bun:test'
import { newPhone, PASSWORD } from '../helpers/api-client.ts'
import { newClient } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { limitingShapes, type TestService } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

async function signIn(service: TestService): Promise<string> {
  return (await service.signedIn()).bearer
}

const changePhone = (service: TestService, bearer: string, phone: string, password = PASSWORD) =>
  service.post('phone/change', { phone, password }, { bearer, ...newClient() })

describe.each(limitingShapes)('limits of changes on %s', (shape) => {
  const service = useLimited({ shape, settings: { sms: { allowed_countries: ['FR'] } } })

  test('a destination gets three codes at once, whoever asks; a taken one is answered alike', async () => {
    const owner = await service.signUp(newPhone())
    service.clock.advance(3_600_000)
    for (const phone of [owner.identifier, newPhone()]) {
      const statuses: number[] = []
      for (let i = 0; i < 4; i++)
        statuses.push((await changePhone(service, await signIn(service), phone)).status)
      expect(statuses).toEqual([201, 201, 201, 429])
    }
  })

  test('an account asks for six an hour, whatever the destinations', async () => {
    const bearer = await signIn(service)
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) statuses.push((await changePhone(service, bearer, newPhone())).status)
    expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 429])
  })

  test('a country to which no SMS goes is refused before the password is checked', async () => {
    const bearer = await signIn(service)
    const answer = await changePhone(service, bearer, '+4915123456789', 'wrong password')
    expectRefusal(answer, 'country_not_allowed')
    expect((await service.get('me', { bearer })).body.account.failed_attempts).toBe(0)
  })

  test('ten wrong passwords close the session for it, and nobody else', async () => {
    const { person, bearer } = await service.signedIn()
    for (let i = 0; i < 10; i++) {
      expectRefusal(await changePhone(service, bearer, newPhone(), 'wrong password'), 'validation_failed')
    }
    expectRefusal(await changePhone(service, bearer, newPhone()), 'too_many_requests')
    const elsewhere = (await service.logIn(person)).access_token
    expect((await changePhone(service, elsewhere, newPhone())).status).toBe(201)
    expect((await service.post('login', person, newClient())).status).toBe(200)
  })
})
