/** Programs whose names no name server answers for, beside people who want to register. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { notHere } from '../helpers/soak.ts'

// Its own name server needs port 53 and its own /etc/resolv.conf.
const mayMount = process.getuid?.() === 0 && Bun.spawnSync(['unshare', '--mount', 'true']).success
const ADDRESS = '127.0.0.53'
const ENDPOINTS = 4
const silent = createSocket('udp4')
let executable: Executable
let asked = 0

if (mayMount) {
  beforeAll(async () => {
    silent.on('message', () => asked++)
    await new Promise<void>((resolve) => silent.bind(53, ADDRESS, resolve))
    const resolvConf = join(newDirectory('names'), 'resolv.conf')
    writeFileSync(resolvConf, `nameserver ${ADDRESS}\noptions timeout:5 attempts:2\n`)
    const mount = `mount --bind ${resolvConf} /etc/resolv.conf && exec "$@"`
    executable = await startExecutable({
      shape: 'redis',
      wrapper: ['unshare', '--mount', 'sh', '-c', mount, 'sh'],
      settings: {
        webhooks: Array.from({ length: ENDPOINTS }, (_, number) => ({
          name: `silent-${number}`,
          url: `https://hooks${number}.silent.test/`,
          secret: `whsec_${Buffer.alloc(32, number).toString('base64')}`,
          events: ['account.*', 'session.*'],
        })) as never,
      },
    })
  })
  afterAll(async () => {
    await executable.close()
    silent.close()
  })
}

;(mayMount ? test : notHere)('keep nobody from registering and signing in', async () => {
  const slowest = await Array.from({ length: 12 }).reduce<Promise<number>>(async (before, _) => {
    const slowestMs = await before
    const beganAtMs = performance.now()
    const { identifier, password } = await executable.signUp(newEmail())
    await executable.logIn({ identifier, password })
    return Math.max(slowestMs, performance.now() - beganAtMs)
  }, Promise.resolve(0))
  expect(asked).toBeGreaterThan(0)
  expect(slowest).toBeLessThan(4000)
})
