/** The two databases that an outbox lies in, and messages for it. */
import type { NewMessage } from '../../src/domain/messages/outbox/message.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { newDataDirectory } from '../helpers/embedded-directory.ts'
import { createDatabase } from '../helpers/servers.ts'

export const start = new Date('2026-07-01T12:00:00.000Z')
export const after = (ms: number) => new Date(start.getTime() + ms)
export const leaseMs = 30_000
/** Allows that many messages of each lane. */
export const allowing = (count: number) => ({ owners: count, strangers: count })

export const notice: NewMessage = {
  channel: 'email',
  destination: 'ada@example.com',
  purpose: 'password_changed',
  language: 'fr',
  values: { device: `"{to}" \\ ' é 😀`, '"': '{"a":1}' },
}

export function coded(subject: string = crypto.randomUUID()): NewMessage {
  return {
    channel: 'sms',
    destination: '+33612345678',
    purpose: 'confirmation',
    language: 'en',
    code: { subject, purpose: 'confirmation', group: 'stranger', seed: new Uint8Array([0, 1, 2, 255]) },
  }
}

export const outboxes = ['PostgreSQL', 'embedded PostgreSQL'] as const

export async function openOutbox(
  name: (typeof outboxes)[number],
): Promise<{ database: Database; close(): Promise<void> }> {
  if (name === 'PostgreSQL') {
    const { url, drop } = await createDatabase()
    const database = openServer({ url, poolSize: 10 })
    return { database, close: () => database.close().then(drop) }
  }
  const database = await openEmbedded(await newDataDirectory())
  return { database, close: () => database.close() }
}
