/** `poterne doctor` and the metrics of the executable, beside a service on its embedded database. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { checks as allChecks } from '../../src/operations/doctor/checks.ts'
import { runExecutable, startExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { promtool } from '../helpers/prometheus.ts'
import { newDirectory } from '../helpers/run-directory.ts'

setDefaultTimeout(180_000)

interface Line {
  name: string
  level: string
  message: string
}

test('the service that runs is asked, its disk is looked at, and its metrics are in order', async () => {
  const port = await freePort()
  const settings = {
    admin: { socket: join(newDirectory('socket'), 'admin.sock') },
    metrics: { listen: `127.0.0.1:${port}` },
  }
  const service = await startExecutable({ shape: 'embedded', settings })
  chmodSync(service.configArgs[1] as string, 0o600)
  const examine = async () => {
    const { code, out, error } = await runExecutable(['doctor', '--json', ...service.configArgs])
    expect(error).toBe('')
    return { code, checks: (JSON.parse(out) as { checks: Line[] }).checks }
  }
  const levelOf = (checks: Line[], name: string) => checks.find((check) => check.name === name)?.level

  const { code, checks } = await examine()
  expect(code).toBe(1)
  expect(checks.find(({ name }) => name === 'backup')?.message).toContain('set backup.passphrase_file')
  for (const name of ['database', 'disk', 'migrations', 'signing-key', 'base-url', 'forwarded-for'])
    expect([name, levelOf(checks, name)]).toEqual([name, 'ok'])

  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text).toMatch(/^poterne_build_info\{.*commit="[0-9a-f]{7}".*\} 1$/m)
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
  expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, said: '' })

  // No file of the process may be written beyond this, as if the disk were full.
  execFileSync('prlimit', ['--fsize=200000:', '--pid', String(service.process().pid)])
  // Its database answers until it has to write, and then not before there is space.
  const full = await examine()
  expect(full.checks.find(({ name }) => name === 'disk')).toMatchObject({
    level: 'failure',
    message: expect.stringContaining('make space on its disk'),
  })
  const askDatabase = allChecks.filter(({ after }) => after === 'database').map(({ name }) => name)
  const mayChange = ['disk', 'database', 'base-url', ...askDatabase]
  const changed = full.checks.filter(({ name, level }) => level !== levelOf(checks, name))
  expect(changed.map(({ name }) => name).filter((name) => !mayChange.includes(name))).toEqual([])
  await service.close()
})
