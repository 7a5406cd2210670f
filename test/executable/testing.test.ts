/** docs/testing.md: its commands in a shell, and the samples of Playwright and GitHub Actions as far as they can be run here. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { builtExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(90_000)

const root = join(import.meta.dir, '../..')
const samples = join(root, 'docs/quickstart')

/** What a shell started in the background goes on: it ends with its group. */
const started: Bun.Subprocess[] = []
afterEach(async () => {
  for (const shell of started.splice(0)) {
    try {
      process.kill(-shell.pid, 'SIGTERM')
    } catch {
      // Its programs ended by themselves.
    }
    await shell.exited
  }
})

/** A folder as the page assumes it: the executable, and the samples beside it. */
async function newFolder() {
  const directory = newDirectory('testing')
  symlinkSync(await builtExecutable(), join(directory, 'poterne'))
  copyFileSync(join(samples, 'people.jsonl'), join(directory, 'people.jsonl'))
  copyFileSync(join(samples, 'sign-in-test.mjs'), join(directory, 'sign-in.spec.mjs'))
  const port = String(await freePort())
  /** Runs a script as a shell of its own; `npx playwright` is the helper that runs the sample. */
  async function run(script: string) {
    const bin = join(directory, 'bin')
    mkdirSync(bin, { recursive: true })
    const npx = [
      process.execPath,
      join(root, 'test/helpers/playwright-sample.ts'),
      join(directory, 'sign-in.spec.mjs'),
    ]
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nexec ${npx.join(' ')}\n`)
    chmodSync(join(bin, 'npx'), 0o755)
    const shell = Bun.spawn(['setsid', 'bash', '-ec', script.replaceAll(':8080', `:${port}`)], {
      cwd: directory,
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        HOME: directory,
        POTERNE_SERVER_PORT: port,
        POTERNE_URL: `http://localhost:${port}`,
      },
      stdout: Bun.file(join(directory, 'out')),
      stderr: Bun.file(join(directory, 'error')),
    })
    started.push(shell)
    const code = await shell.exited
    const printed = (name: string) => readFileSync(join(directory, name), 'utf8')
    return { code, out: printed('out'), error: printed('error') }
  }
  return { directory, port, run }
}

const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text.trim())

test('its commands start the service, wait for it, and read what they say', async () => {
  const [start, mailbox, people, seeded, container] = blocks as [string, string, string, string, string]
  expect(blocks).toHaveLength(5)
  // Engines of containers are not here; the options of the last block are tried by development.test.ts.
  expect(container).toContain('--dev-host 0.0.0.0')
  const { port, run } = await newFolder()
  const register = `curl -s http://localhost:${port}/api/v1/auth/register -H 'content-type: application/json' -d '{"email": "grace@example.com",
    "password": "a rather long sentence", "password_confirmation": "a rather long sentence"}' > /dev/null`
  // The seed of the fourth block is a start of its own, in place of the first one. Whoever waited finds the people there.
  const begun = `${seeded} > log 2>&1 &\n./poterne health --wait 20s > health`
  expect(start.split('\n').map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    './poterne serve',
    './poterne health',
  ])
  const { code, out, error } = await run(
    `${begun}\n${people}\necho\n${register}\n${mailbox}\necho\ncat health\nkill %1\nwait`,
  )
  const [listed = '', messages = '', health] = out.split('\n')
  expect([code, error]).toEqual([0, ''])
  expect(JSON.parse(messages)).toMatchObject([{ to: 'grace@example.com', purpose: 'confirmation' }])
  expect(JSON.parse(listed).map(({ identifier }: { identifier: string }) => identifier)).toEqual([
    'dora@example.com',
    'emil@example.com',
  ])
  expect(health).toBe(`http://127.0.0.1:${port}/healthz answers`)
})

longTest('the workflow starts the service and runs the sample of Playwright', async () => {
  const workflow = YAML.parse(readFileSync(join(samples, 'tests.yml'), 'utf8')) as {
    jobs: Record<string, { steps: { name?: string; run?: string; if?: string }[] }>
  }
  const stepOf = (name: string) => workflow.jobs['sign-in']!.steps.find((step) => step.name === name)!.run!
  const { run } = await newFolder()
  const script = [stepOf('Start poterne'), stepOf('Test'), 'kill %1', 'wait'].join('\n')
  const { code, out, error } = await run(script)
  expect([code, error]).toEqual([0, ''])
  expect(out.match(/^passed: .*$/gm)).toHaveLength(2)
})
