/** Goes to a host step by step, so that whoever tries something out sees at which one it fails. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { openPlain, openTls } from './open-socket.ts'

export interface Step {
  name: string
  text: string
}

type Note = (name: string, text: string) => void

/** Resolves, connects and shakes hands; the sending itself checks the certificate. Returns why it cannot be reached, or null. */
export async function reach(note: Note, url: URL): Promise<string | null> {
  const tls = url.protocol === 'https:'
  const port = Number(url.port) || (tls ? 443 : 80)
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = await step(note, 'resolve', async () => {
    const found = isIP(bare) ? [{ address: bare }] : await lookup(bare, { all: true })
    return found.map(({ address }) => address).join(', ')
  })
  if (addresses === null) return 'the host could not be resolved'
  const connected = await step(note, 'connect', () => openPlain(bare, port))
  if (connected === null) return 'the host could not be reached'
  if (tls) await step(note, 'tls', () => openTls(bare, port))
  return null
}

/** It returns null where it failed, which is noted. */
async function step(note: Note, name: string, work: () => Promise<string>): Promise<string | null> {
  try {
    const result = await work()
    note(name, result)
    return result
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    note(name, `failed: ${code ?? message}`)
    return null
  }
}
