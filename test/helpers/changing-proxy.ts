/** Passes TCP connections on to a real server, and changes what it answers: for what no server can be made to say. */
import { connect, createServer } from 'node:net'
import { freePort } from './free-port.ts'

export interface ChangingProxy {
  port: number
  close(): Promise<void>
}

/** `change` sees the pieces as they arrive, in latin1; a change that is to be found must not be longer or shorter. */
export async function startChangingProxy(
  target: number,
  change: (answer: string) => string,
): Promise<ChangingProxy> {
  const port = await freePort()
  const open = new Set<{ destroy(): unknown }>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (piece) => upstream.write(piece))
    upstream.on('data', (piece) => client.write(Buffer.from(change(piece.toString('latin1')), 'latin1')))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
