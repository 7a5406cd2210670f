/**
 * A delivery worker in a process of its own, to be killed: `bun delivery-process.ts DATABASE_URL`. Its sender says
 * "sending ID" on standard output and never ends.
 */

import { createDeliveryWorker } from '../../src/domain/messages/delivery/worker.ts'
import { createMessageStore } from '../../src/domain/messages/outbox/store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openServer } from '../../src/platform/postgres/server.ts'

const database = openServer({ url: process.argv[2] as string, poolSize: 2 })
createDeliveryWorker({
  store: createMessageStore(database),
  codes: { start: async () => true, reveal: () => '012345' },
  codeLifetimeSeconds: 600,
  render: ({ id, destination }) => ({
    id,
    channel: 'email',
    to: destination,
    purpose: 'confirmation',
    language: 'fr',
    subject: '',
    text: '',
    html: null,
    code: null,
    minutes: 10,
  }),
  sender: {
    send: ({ id }) => {
      console.log(`sending ${id}`)
      return new Promise(() => {})
    },
    close: async () => {},
  },
  clock: systemClock,
  logger: { info() {}, warn() {}, error() {} },
}).start()
