/** The socket of a service with servers, which has no directory of its own. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { lstatSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { runExecutable, startExecutable } from '../helpers/executable.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

test('a service with servers opens its socket in a private directory, and the commands of its user find it', async () => {
  const service = await startExecutable({ shape: 'redis', settings: { log: { level: 'info' } } })
  const { directory } = service.process()
  expect(readdirSync(directory)).toEqual([])
  expect(service.log().filter(({ msg }) => String(msg).includes('socket'))).toEqual([])
  const asked = () => service.log().filter(({ route }) => route === '/admin/v1/keys')
  const listed = await runExecutable(['keys', 'list', '--json', ...service.configArgs])
  expect([listed.code, listed.error, JSON.parse(listed.out).length]).toEqual([0, '', 1])
  // The service writes its lines a moment after its answers.
  await waitFor(() => asked().length === 1, { what: 'the line of the request' })
  const other = await startExecutable({ shape: 'redis', storage: service.storage })
  expect(other.log().filter(({ msg }) => String(msg).includes('socket'))).toEqual([])
  const folder = `/tmp/poterne-${process.geteuid?.()}`
  expect([dirname(folder), lstatSync(folder).mode & 0o777]).toEqual(['/tmp', 0o700])
  await other.close()
  await service.close()
})
