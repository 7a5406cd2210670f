/** PgBouncer before a PostgreSQL server of a test. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { asServerUser, serverDirectory } from './postgres-server.ts'
import { controlServer, leaveWithoutProgram, type ServerControls } from './server-process.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

/** `url`: of a database; that of the pooler leads to the same one. Debian puts the program where only root looks. */
export async function startPooler(url: string, mode: PoolMode): Promise<ServerControls & { url: string }> {
  const program = Bun.which('pgbouncer', { PATH: `${process.env.PATH}:/usr/sbin` })
  if (program === null) leaveWithoutProgram('PgBouncer')
  const directory = serverDirectory('pgbouncer')
  const port = await freePort()
  const { hostname, port: serverPort, username, pathname } = new URL(url)
  // A service of another test may have narrowed the umask of this process.
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    chmodSync(join(directory, name), 0o644)
  }
  write('users', `"${username}" ""\n`)
  write(
    'pgbouncer.ini',
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users')}
pool_mode = ${mode}
default_pool_size = 20
`,
  )
  const controls = controlServer({
    directory,
    command: asServerUser([program, join(directory, 'pgbouncer.ini')]),
    answers: async () => {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).catch(
        () => null,
      )
      socket?.end()
      return socket !== null
    },
  })
  await controls.start()
  return { ...controls, url: `postgres://${username}@127.0.0.1:${port}${pathname}` }
}
