/** A passkey from a page whose origin is not listed: who runs the service can find out why it is refused. */
import { describe, expect, test } from 'bun:test'
import { PASSWORD } from '../helpers/api-client.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useService } from '../helpers/use-service.ts'

const LISTED = 'https://app.example.com'
const settings = { passkeys: { rp_id: 'example.com', origins: [LISTED] } }

describe.each([
  { dev: false, inAnswer: undefined },
  { dev: true, inAnswer: 'origin_not_listed' },
])('from an origin that is not listed, dev = $dev', ({ dev, inAnswer }) => {
  const service = useService({ settings, dev })

  /** The causes of the last refusal: in its answer, and in its line of the log. */
  function causesOf({ body }: { body: { cause?: string; request_id: string } }) {
    const line = service.log.find((each) => each.includes(body.request_id)) ?? '{}'
    return [body.cause, JSON.parse(line).cause]
  }

  test('a registration and a sign-in say why in the log, and in the answer only with --dev', async () => {
    const { bearer } = await service.signedIn()
    const add = async (origin: string) => {
      const asked = await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
      const { passkey, credential } = createPasskey(asked.body.options, origin)
      return { passkey, answer: await service.post('passkeys/registration', { credential }, { bearer }) }
    }
    const refused = (await add('http://localhost:5173')).answer
    expectRefusal(refused, 'invalid_passkey')
    expect(causesOf(refused)).toEqual([inAnswer, 'origin_not_listed'])

    const { passkey, answer } = await add(LISTED)
    expect(answer.status).toBe(201)
    const signIn = async (origin: string, quirks = {}) => {
      const { options } = (await service.post('passkeys/login/options', {})).body
      const credential = signWithPasskey(passkey, options, origin, quirks)
      return service.post('passkeys/login', { credential })
    }
    const elsewhere = await signIn('https://shop.example.com')
    expectRefusal(elsewhere, 'invalid_passkey')
    expect(causesOf(elsewhere)).toEqual([inAnswer, 'origin_not_listed'])
    expect((await signIn(LISTED)).status).toBe(200)
  })
})
