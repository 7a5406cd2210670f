/** `poterne move`: from the embedded database to a server and back, while services run, and nobody is logged out. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newEmail } from '../helpers/api-client.ts'
import { type Executable, runExecutable, startExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(180_000)

const seconds = (out: string) => Number(/no write was accepted for ([\d.]+) s/.exec(out)?.[1])
const refused = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  Number(headers.get('retry-after')) > 0,
]

test('the data moves to a server and back, the old one is marked, and nobody is logged out', async () => {
  const embedded = await startExecutable({ shape: 'embedded' })
  const started: Executable[] = [embedded]
  try {
    const ada = await embedded.signUp(newEmail())
    let tokens = await embedded.logIn(ada)
    const refresh = async (service: Executable) => {
      const answer = await service.post('refresh', { refresh_token: tokens.refresh_token })
      if (answer.status === 200) tokens = answer.body
      return answer
    }
    const { url } = await createDatabase({ migrated: false })
    const dataDir = embedded.storage.storage!.data_dir as string

    const wrong = await runExecutable(['move', '--to', 'mysql://x', ...embedded.configArgs])
    expect([wrong.code, wrong.error]).toEqual([
      2,
      '--to: expected "embedded" or a URL that begins with postgres://\n',
    ])

    const there = await runExecutable(['move', '--to', url, ...embedded.configArgs])
    expect([there.error, there.code]).toEqual(['', 0])
    expect(there.out).toContain('[database]\nurl = "postgres://postgres@127.0.0.1')
    expect(there.out).toContain(`what ${dataDir}/secret holds`)
    expect(seconds(there.out)).toBeLessThan(30)
    expect(refused(await refresh(embedded))).toEqual([503, true])
    expect((await fetch(`${embedded.url}/readyz`)).status).toBe(503)
    await embedded.kill('SIGTERM')
    const again = await runExecutable(['serve', ...embedded.configArgs])
    expect(again.code).toBe(1)
    expect(again.error.trim().split('\n').at(-1)).toMatch(
      /was moved to postgres:\/\/postgres@127.*start poterne with database\.url = ".*`poterne move --undo`$/,
    )

    // On the server, with the secret of the file, and a directory to move back to.
    const secret = readFileSync(join(dataDir, 'secret'), 'utf8').trim()
    const data_dir = join(newDirectory('back'), 'data')
    const settings = { server: { secret }, database: { url }, storage: { data_dir } }
    const server = await startExecutable({ shape: 'postgres', storage: settings })
    started.push(server)
    expect((await refresh(server)).status).toBe(200)
    const { body } = await server.get('events', { bearer: tokens.access_token })
    expect(body.items.map(({ type }: { type: string }) => type)).toContain('login.succeeded')

    const back = await runExecutable(['move', '--to', 'embedded', ...server.configArgs])
    expect([back.error, back.code]).toEqual(['', 0])
    expect(back.out).toContain(`data_dir = "${data_dir}"`)
    expect(refused(await refresh(server))).toEqual([503, true])
    const home = await startExecutable({
      shape: 'embedded',
      storage: { server: { secret }, storage: { data_dir } },
    })
    started.push(home)
    expect((await refresh(home)).status).toBe(200)
    expect(await home.logIn(ada)).toMatchObject({ status: 200 })

    const undone = await runExecutable(['move', '--undo', ...server.configArgs])
    expect([undone.code, undone.out]).toEqual([
      0,
      `The data is in use again. What was written to embedded in ${data_dir} since is not in it.\n`,
    ])
    await server.kill('SIGTERM')
    await server.start()
    await waitFor(async () => (await server.post('login', ada)).status === 200, { what: 'a login' })
  } finally {
    for (const each of started) await each.close()
  }
})
