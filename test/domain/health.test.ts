/** `poterne health` beside a service that lives, hurts, hangs or is not there. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { poterneCommand } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'

setDefaultTimeout(20_000)

async function health(
  port: number,
  host = '127.0.0.1',
  args: string[] = [],
): Promise<{ code: number; printed: string }> {
  const command = Bun.spawn([...poterneCommand(), 'health', ...args], {
    env: {
      PATH: process.env.PATH,
      HTTP_PROXY: 'http://127.0.0.1:1',
      POTERNE_SERVER_HOST: host,
      POTERNE_SERVER_PORT: String(port),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const printed = await Promise.all([
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
  ])
  return { code: await command.exited, printed: printed.join('') }
}

async function besides(answer: () => Response | Promise<Response>, host?: string) {
  const paths: string[] = []
  const server = Bun.serve({
    hostname: host ?? '127.0.0.1',
    port: 0,
    fetch: (request) => {
      paths.push(new URL(request.url).pathname)
      return answer()
    },
  })
  const result = await health(server.port as number, host)
  await server.stop(true)
  return { ...result, paths }
}

test('a service that lives is exit code 0', async () => {
  expect(await besides(() => new Response('ok'))).toMatchObject({ code: 0, paths: ['/healthz'] })
})

test('a service that listens on all addresses is asked on loopback', async () => {
  expect(await besides(() => new Response('ok'), '0.0.0.0')).toMatchObject({ code: 0 })
})

test('another status, silence and a closed port are exit code 1', async () => {
  expect(await besides(() => new Response('', { status: 503 }))).toMatchObject({ code: 1 })
  expect(await besides(() => Bun.sleep(4000).then(() => new Response('late')))).toMatchObject({ code: 1 })
  const closed = await health(await freePort())
  expect(closed.code).toBe(1)
  expect(closed.printed).toContain('does not answer')
})

test('--wait tries again until it answers, and gives up after that time', async () => {
  const port = await freePort()
  const waiting = health(port, undefined, ['--wait', '15s'])
  await Bun.sleep(1000)
  const server = Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response('ok') })
  expect(await waiting).toMatchObject({ code: 0 })
  await server.stop(true)
  const before = performance.now()
  expect(await health(port, undefined, ['--wait', '1s'])).toMatchObject({ code: 1 })
  expect(performance.now() - before).toBeGreaterThan(1000)
  expect(await health(port, undefined, ['--wait', 'soon'])).toEqual({
    code: 2,
    printed: '--wait must be a duration from 1s to 10m, such as 20s, not soon\n',
  })
})
