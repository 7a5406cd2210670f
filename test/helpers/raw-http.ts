/** HTTP by hand over a TCP socket, for what fetch refuses to send. */

export interface RawAnswer {
  /** Everything the server sent, headers and bodies of all answers on this connection. */
  text: string
  /** True if the server closed the connection by itself. */
  closed: boolean
}

/**
 * Sends the parts one after the other and collects what comes back until the server closes, or has answered and then
 * says nothing for a moment.
 */
export async function sendRaw(port: number, parts: (string | Uint8Array)[]): Promise<RawAnswer> {
  const received: Uint8Array[] = []
  let closed = false
  let writable = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_socket, data) => {
        received.push(new Uint8Array(data))
      },
      drain: () => writable.resolve(),
      close: () => {
        closed = true
        writable.resolve()
        ended.resolve()
      },
      error: () => {},
    },
  })
  for (const part of parts) {
    let rest: Uint8Array = Buffer.from(part as string)
    while (rest.byteLength > 0 && !closed) {
      writable = Promise.withResolvers()
      const written = socket.write(rest)
      rest = rest.subarray(Math.max(written, 0))
      if (rest.byteLength > 0) await Promise.race([writable.promise, Bun.sleep(50)])
    }
  }
  const deadline = Date.now() + 5000
  for (let seen = 0; !closed && Date.now() < deadline; ) {
    await Promise.race([Bun.sleep(50), ended.promise])
    if (seen > 0 && seen === received.length) break
    seen = received.length
  }
  const closedByServer = closed
  socket.end()
  return { text: Buffer.concat(received).toString('utf8'), closed: closedByServer }
}

/** The status codes of the answers, in order. */
export function statusesOf({ text }: RawAnswer): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}

/** The JSON bodies of the answers, in order. */
export function bodiesOf({ text }: RawAnswer): Record<string, unknown>[] {
  return [...text.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP\/1\.1 |$)/gs)].map((match) => JSON.parse(match[1] ?? ''))
}
