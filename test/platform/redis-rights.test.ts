/** The user of Redis: the ACL of docs/operations.md is enough, and whatever it lacks is named. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import Redis from 'ioredis'
import * as doctor from '../../src/operations/doctor/redis-checks.ts'
import { openRedis } from '../../src/platform/redis/connection.ts'
import { redisCause, refusalCause } from '../../src/platform/redis/failure.ts'
import { requireCommands } from '../../src/platform/redis/script.ts'
import { newEmail } from '../helpers/api-client.ts'
import { appCode, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { freePort } from '../helpers/free-port.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { type RedisServer, startRedis } from '../helpers/servers.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const PREFIX = 'poterne:'
const root = join(import.meta.dir, '../..')
const operations = await Bun.file(join(root, 'docs/operations.md')).text()
/** The rules after the name of the user. */
const documented = /^ACL SETUSER poterne (.+)$/m.exec(operations)![1]!.replace('PASSWORD', 'pw').split(' ')

/** Each command that a script of a store calls. */
async function commandsOfScripts(): Promise<string[]> {
  const commands = new Set<string>()
  for await (const file of new Bun.Glob('src/domain/**/store-redis.ts').scan(root))
    for (const [, name] of (await Bun.file(join(root, file)).text()).matchAll(/redis\.call\('(\w+)'/g))
      commands.add(name!.toLowerCase())
  return [...commands].sort()
}

let server: RedisServer
let administrator: Redis
const acl = (...rules: string[]) => administrator.call('ACL', 'SETUSER', 'poterne', ...rules)
beforeAll(async () => {
  server = await startRedis()
  administrator = new Redis(server.url)
  await acl(...documented)
})
afterAll(async () => {
  administrator.disconnect()
  await server.stop()
})

const urlOf = ({ port }: { port: number }) => `redis://poterne:pw@127.0.0.1:${port}`
const configOf = (url: string, mode: 'single' | 'cluster' = 'single') => ({
  ...{ mode, urls: [url], master: null, keyPrefix: PREFIX },
})
const start = (limits = false) =>
  startService({
    settings: { redis: { url: urlOf(server), key_prefix: PREFIX }, limits: { enabled: limits } },
  })

async function withoutCommand(command: string, work: () => Promise<void>): Promise<void> {
  await acl(`-${command}`)
  try {
    await work()
  } finally {
    await acl('reset', ...documented)
  }
}

describe('the ACL of the documents', () => {
  test('holds the commands of the scripts, and what runs them', async () => {
    const commands = documented.filter((rule) => rule.startsWith('+')).map((rule) => rule.slice(1))
    const scripts = await commandsOfScripts()
    expect(commands.filter((command) => !scripts.includes(command)).sort()).toEqual(
      ['client|setname', 'eval', 'evalsha', 'info', 'ping', 'scan', 'time', 'unlink'].sort(),
    )
    expect(commands).toEqual(expect.arrayContaining(scripts))
  })

  test('lets a service do all it does, and refuses nothing of it but CONFIG GET', async () => {
    await administrator.call('ACL', 'LOG', 'RESET')
    await using service = await start(true)
    const { person, secret } = await protectByApp(service)
    expect((await service.post('login', person)).body.code).toBe('two_factor_required')
    expectRefusal(await service.post('2fa/verify', { ...person, otp: '000000' }), 'invalid_code')
    const otp = appCode(secret, service.clock.now(), 1)
    const { body } = await service.post('2fa/verify', { ...person, otp })
    expect((await service.post('refresh', { refresh_token: body.refresh_token })).status).toBe(200)
    const bySms = await protectBySentCodes(service)
    expect((await service.post('login', bySms.person)).status).toBe(202)
    expect((await service.post('login', { ...person, password: 'a wrong one' })).status).toBe(401)
    await service.resetPassword((await service.signUp(newEmail())).identifier, 'another good word')
    await service.inside.services.limitLifts.lift(person.identifier, { isCounted: true })
    expect((await service.call('GET', '/readyz')).status).toBe(200)

    const redis = openRedis(configOf(urlOf(server)))
    const context = { config: { redis: configOf(urlOf(server)) }, redis } as never
    for (const check of Object.values(doctor).filter((one) => typeof one === 'function'))
      expect(await check(context)).toMatchObject({ level: 'ok' })
    await redis.close()
    const refused = (await administrator.call('ACL', 'LOG')) as string[][]
    const objects = refused.map((entry) => entry[entry.indexOf('object') + 1])
    expect(new Set(objects)).toEqual(new Set(['config|get']))
  })

  test('is enough in a Cluster, with the two commands beside it', async () => {
    const [, beside] = /a Cluster `(\+[^`]+)`/.exec(operations) ?? []
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]
    const node = await startRedis([...cluster, '--cluster-announce-ip', '127.0.0.1'])
    const alone = new Redis(node.port)
    await alone.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await waitFor(async () => String(await alone.call('CLUSTER', 'INFO')).includes('cluster_state:ok'))
    await alone.call('ACL', 'SETUSER', 'poterne', ...documented, ...beside!.split(' '))
    const redis = openRedis(configOf(urlOf(node), 'cluster'))
    await redis.ready()
    await requireCommands(redis)
    await redis.requireNoEviction()
    await redis.removeBeginning(PREFIX)
    await redis.close()
    // A database of its own is not to be had in a Cluster, whatever the mode says.
    const single = openRedis(configOf(`redis://127.0.0.1:${node.port}/1`))
    await expect(single.ready(10_000)).rejects.toThrow('(CLUSTER)')
    await single.close()
    alone.disconnect()
    await node.stop()
  })
})

describe('a command that is refused', () => {
  test('is named by the probe, whichever it is', async () => {
    const redis = openRedis(configOf(urlOf(server)))
    await redis.ready()
    await requireCommands(redis)
    for (const command of ['eval', 'evalsha', ...(await commandsOfScripts())])
      await withoutCommand(command, async () => {
        await expect(requireCommands(redis)).rejects.toThrow(
          `Redis refuses its user the command ${command.toUpperCase()} (NOPERM): allow it with +${command} in the ACL`,
        )
      })
    await acl('resetkeys', '~other:*')
    await expect(requireCommands(redis)).rejects.toThrow('every key under redis.key_prefix')
    await acl('reset', ...documented)
    await redis.close()
  })

  test('ends a start, and is named there', async () => {
    for (const command of ['hsetnx', 'eval', 'info'])
      await withoutCommand(command, async () => {
        await expect(start()).rejects.toThrow(`Redis refuses its user the command ${command.toUpperCase()}`)
      })
  })

  describe('while a service runs', () => {
    let service: TestService
    beforeAll(async () => {
      service = await start(true)
    })
    afterAll(() => service.close())
    const isReady = async () => (await service.call('GET', '/readyz')).status === 200
    const causes = () => service.log.map((line) => JSON.parse(line).cause)

    test.each(['set', 'evalsha'])('(%s) is answered with 503, and named in the log', async (command) => {
      const person = await service.signUp(newEmail())
      await withoutCommand(command, async () => {
        expectRefusal(await service.post('login', person), 'unavailable')
        expectRefusal(await service.post('password/forgot', { identifier: newEmail() }), 'unavailable')
        expect(causes()).toContain(`NOPERM:${command}`)
        const { body } = await waitFor(
          async () => {
            const answer = await service.call('GET', '/readyz')
            return answer.status === 503 && answer
          },
          { what: 'readiness to end' },
        )
        expect(body.reason).toBe(`Redis refuses this service the command ${command.toUpperCase()}`)
      })
      await waitFor(isReady, { what: 'readiness to return' })
      expect((await service.post('login', person)).status).toBe(200)
    })

    test('lets no message go without its code: it goes once the command is allowed', async () => {
      const email = newEmail()
      await withoutCommand('hsetnx', async () => {
        await service.post('register', {
          email,
          password: 'a long enough word',
          password_confirmation: 'a long enough word',
        })
        await waitFor(() => causes().includes('NOPERM:hsetnx'), { what: 'the log to name it' })
        expect(service.inbox.codesTo(email)).toEqual([])
      })
      const otp = await service.inbox.nextCode(email)
      expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
    })
  })
})

test('a command that was renamed is named', async () => {
  for (const command of ['EVAL', 'EVALSHA', 'HSETNX', 'PEXPIRE']) {
    const own = await startRedis(['--rename-command', command, ''])
    const redis = openRedis(configOf(own.url))
    await redis.ready()
    await expect(requireCommands(redis)).rejects.toThrow(
      `Redis does not know the command ${command} (NOCOMMAND)`,
    )
    await redis.close()
    await own.stop()
  }
})

test.each([
  ["NOPERM this user has no permissions to run the 'hset' command", 'NOPERM:hset'],
  ["NOPERM User poterne has no permissions to run the 'config|get' command", 'NOPERM:config_get'],
  [
    "ERR ACL failure in script: User p has no permissions to run the 'hset' command script: 1, on @user_script:1.",
    'NOPERM:hset',
  ],
  ['ERR ACL failure in script: No permissions to access a key script: 1, on @user_script:1.', 'NOPERM'],
  [
    'ERR Error running script (call to f_1): @user_script:2: @user_script: 2: Unknown Redis command called from script',
    'NOCOMMAND',
  ],
  ['ERR unknown command `EVAL`, with args beginning with: `return 1`', 'NOCOMMAND:eval'],
])('%s: %s', (message, cause) => {
  expect(refusalCause(new Error(message))).toBe(cause)
  expect(redisCause(new Error(message))).toBe(cause)
})
