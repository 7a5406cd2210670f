/** Digests of other kinds than today's: sign-ins replace them, and every process knows which are in use. */
import { describe, expect, test } from 'bun:test'
import { createDigestStore } from '../../src/domain/foundation/hashing/store.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { digestOf, setDigest } from '../helpers/database.ts'
import { useReplica, useService } from '../helpers/use-service.ts'

const bcrypt = (cost = 4) => Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost })
const OWN = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=1\$/

describe.each(['postgres', 'embedded'] as const)('on %s', (shape) => {
  const service = useService({ shape })
  const replica = useReplica(service, { shape })

  test('32 sign-ins at once with the right password of a foreign digest all succeed', async () => {
    const { identifier } = await service.signUp(newEmail())
    await setDigest(service, identifier, await bcrypt())
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        (index % 2 ? replica : service).post('login', { identifier, password: PASSWORD }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200))
    expect(await digestOf(service, identifier)).toMatch(OWN)
  })

  test('each family is found once, with its largest number', async () => {
    const digests = [
      await bcrypt(6),
      (await bcrypt(7)).replace('$2b$', '$2y$'),
      '$2b$31$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW',
      'no digest',
      `$bcrypt$n=08$sha256$$${(await bcrypt(8)).slice(7)}`,
      '$argon2i$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '$pbkdf2-sha256$n=9000$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '$pbkdf2-sha256$n=20000$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '$scrypt$ln=4,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '$wrapped-crypt-sha512$n=5000,m=64,t=1,p=1$$c2FsdA$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ]
    for (const digest of digests) {
      const { identifier } = await service.signUp(newEmail())
      await setDigest(service, identifier, digest)
    }
    const found = await createDigestStore(service.inside.database).listFamilies()
    expect(found.filter(({ family }) => !family.startsWith('argon2id$')).reverse()).toEqual([
      { family: 'argon2i$v=19$m=64,t=1,p=1', number: 0 },
      { family: 'bcrypt', number: 8 },
      { family: 'pbkdf2-sha256', number: 20_000 },
      { family: 'scrypt$ln=4,r=8,p=1', number: 0 },
      { family: 'wrapped-crypt-sha512$m=64,t=1,p=1', number: 5000 },
    ])
  })
})
