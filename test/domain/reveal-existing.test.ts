/** `accounts.reveal_existing`: the operator prefers a clear answer to a secret. */
import { expect, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService({ settings: { accounts: { reveal_existing: true } } })

const taken = [409, 'identifier_taken']
const failure = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code]

test('registering what is proved is a conflict; what only waits is not', async () => {
  const { identifier } = await service.signUp(newEmail())
  const answers = await Promise.all([1, 2].map(() => service.post('register', registration(identifier))))
  expect(answers.map(failure)).toEqual([taken, taken])
  const waiting = newEmail()
  for (let i = 0; i < 2; i++) expect((await service.post('register', registration(waiting))).status).toBe(201)
})

test('another e-mail address or phone that is somebody else’s is one too; one’s own is not', async () => {
  const email = await service.signUp(newEmail())
  const phone = await service.signUp(newPhone())
  const { person, bearer } = await service.signedIn()
  const change = (kind: 'email' | 'phone', to: string) =>
    service.post(`${kind}/change`, { [kind]: to, password: PASSWORD }, { bearer })
  expectRefusal(await change('email', email.identifier.toUpperCase()), 'identifier_taken')
  expectRefusal(await change('phone', phone.identifier), 'identifier_taken')
  expect((await change('email', person.identifier)).status).toBe(201)
  expect((await change('phone', newPhone())).status).toBe(201)
})
