/**
 * The needs of a service on a small machine: memory while it is idle, and a flood of logins under a limit of memory.
 * The libraries that it loads only when they are needed are there then.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { startExecutable } from '../helpers/executable.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const CLIENTS = 100
const ORIGIN = 'https://app.example.com'

/**
 * A control group with that much memory, where this machine lets us make one; elsewhere only the highest resident set is
 * compared with the limit.
 */
function limitMemory(bytes: number) {
  const group = `/sys/fs/cgroup/memory/poterne-${process.pid}-${bytes}`
  try {
    mkdirSync(group)
    writeFileSync(join(group, 'memory.limit_in_bytes'), String(bytes))
  } catch {
    return { wrapper: [], failures: () => 0, remove: () => {} }
  }
  const enter = `echo $$ > ${group}/cgroup.procs && exec "$0" "$@"`
  return {
    wrapper: ['sh', '-c', enter],
    failures: () =>
      Number(/oom_kill (\d+)/.exec(readFileSync(join(group, 'memory.oom_control'), 'utf8'))?.[1]),
    remove: () => rmdirSync(group),
  }
}

const residentBytes = (pid: number, what: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) *
  1024

test.each([
  ['postgres', { idle: 95e6, flood: 256 * 2 ** 20 }],
  ['embedded', { idle: 245e6, flood: 400 * 2 ** 20 }],
] as const)('%s: idle memory, and a flood of logins under a limit', async (shape, goal) => {
  const limit = limitMemory(goal.flood)
  const settings = {
    password: { memory_kib: 19_456, iterations: 2 },
    passkeys: { rp_id: 'example.com', origins: [ORIGIN] },
  }
  const service = await startExecutable({ shape, settings, wrapper: limit.wrapper, measures: true })
  const { pid } = service.process()
  const resident = await waitFor(
    () => {
      const bytes = residentBytes(pid, 'VmRSS')
      return bytes < goal.idle && bytes
    },
    { what: `less than ${goal.idle / 1e6} MB`, timeoutMs: 20_000, intervalMs: 250 },
  )
  const person = await service.signUp(newEmail())
  const statuses = await Promise.all(
    Array.from({ length: CLIENTS }, () => service.post('login', person)),
  ).then((answers) => answers.map(({ status }) => status))
  const count = (status: number) => statuses.filter((each) => each === status).length
  expect(count(200) + count(503)).toBe(CLIENTS)
  expect(count(200)).toBeGreaterThan(10)
  const highest = residentBytes(pid, 'VmHWM')
  process.stdout.write(
    `${shape}: ${Math.round(resident / 1e6)} MB idle, ${Math.round(highest / 1e6)} MB in a flood\n`,
  )
  expect(highest).toBeLessThan(goal.flood)
  expect(limit.failures()).toBe(0)
  const { access_token: bearer } = await service.logIn(person)
  const { options } = (
    await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
  ).body
  const { passkey, credential } = createPasskey(options, ORIGIN)
  expect((await service.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
  const asked = (await service.post('passkeys/login/options', {})).body.options
  const signed = { credential: signWithPasskey(passkey, asked, ORIGIN) }
  expect((await service.post('passkeys/login', signed)).status).toBe(200)
  await service.close()
  limit.remove()
})
