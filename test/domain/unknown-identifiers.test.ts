/** Text that is no identifier at all is looked up, counted and answered as one that nobody has. */
import { expect, test } from 'bun:test'
import { newEmail } from '../helpers/api-client.ts'
import { newClient, seen } from '../helpers/limited-service.ts'
import { strangersCall, strangersCalls } from '../helpers/strangers-calls.ts'
import { useLimited } from '../helpers/use-service.ts'

const service = useLimited()

const calls = strangersCalls
  .filter(({ takesIdentifier }) => !takesIdentifier)
  .map((call) => ({ ...call, what: call.operation }))
const withPassword = {
  ...strangersCall('2fa/verify'),
  what: '2fa/verify with a password',
  body: (identifier: string) => ({ identifier, otp: '000000', password: 'not this one' }),
  untilRefused: strangersCall('login').untilRefused,
}

test.each([...calls, withPassword])('$what', async ({ operation, body, untilRefused }) => {
  const unknown = newEmail()
  const none = `none ${crypto.randomUUID()}`
  const client = newClient()
  const ask = (identifier: string) => service.post(operation, body(identifier), client)
  for (let call = 0; call <= untilRefused; call++) {
    const [expected, answer] = [await ask(unknown), await ask(none)]
    expect(seen(answer)).toEqual(seen(expected))
  }
  expect((await ask(none.toUpperCase())).status).toBe(429)
  expect(await service.delivered()).toBe(0)
})
