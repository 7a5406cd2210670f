/** A name server that knows TXT records: what it does not know does not exist. */
import { createSocket } from 'node:dgram'

export interface NameServer {
  /** `127.0.0.1:PORT` */
  address: string
  /** The keys are names; each text is a record of its own. To be changed at will. */
  records: Record<string, string[]>
  close(): Promise<void>
}

const HEADER_BYTES = 12
const NXDOMAIN = 3

export async function startNameServer(records: Record<string, string[]>): Promise<NameServer> {
  const socket = createSocket('udp4')
  const server: NameServer = {
    address: '',
    records,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query)
    const found = server.records[name]
    const answers = (found ?? []).map(toAnswer)
    const header = Buffer.alloc(HEADER_BYTES)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (found ? 0 : NXDOMAIN), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    // The question ends with its type and class.
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end + 4), ...answers]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  server.address = `127.0.0.1:${socket.address().port}`
  return server
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += length + 1
  }
  return { name: labels.join('.'), end: at + 1 }
}

/** Answers about the name in the question; a text is in parts of at most 255 bytes. */
function toAnswer(text: string): Buffer {
  const parts = text.match(/.{1,255}/gs) ?? ['']
  const data = Buffer.concat(
    parts.flatMap((part) => [Buffer.from([part.length]), Buffer.from(part, 'latin1')]),
  )
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
