/** The rows of the table, in its order. What a measurement started is ended before the next one begins. */
import type { Bench } from './bench.ts'
import type { Line } from './compare.ts'
import * as codes from './rows/codes.ts'
import * as embedded from './rows/embedded.ts'
import { measureFlood } from './rows/flood.ts'
import { measureHandOver } from './rows/hand-over.ts'
import * as hashing from './rows/hashing.ts'
import { pageSignIns } from './rows/page-sign-in.ts'
import { measurePasskeys } from './rows/passkeys.ts'
import { measureReplicas } from './rows/replicas.ts'
import * as resources from './rows/resources.ts'
import * as sessions from './rows/sessions.ts'
import { verifications } from './rows/verifier.ts'
import { loginsWithWebhook, measureDeliveries } from './rows/webhooks.ts'

export const rows: Record<string, ((bench: Bench) => Promise<Line | Line[]>)[]> = {
  logins: [hashing.measureLogins],
  'logins-rival': [hashing.loginsAgainstBetterAuth('default'), hashing.loginsAgainstBetterAuth('argon2id')],
  passkeys: [measurePasskeys],
  registrations: [hashing.measureRegistrations],
  'verify-account': [codes.measureVerifyAccount],
  'request-otp': [codes.measureRequestOtp],
  refresh: [sessions.measureRefresh],
  me: [sessions.measureMe],
  'page-sign-in': pageSignIns,
  'hand-over': [measureHandOver],
  'refresh-latency': [sessions.measureRefreshLatency],
  memory: [resources.measureMemory],
  embedded: embedded.operations,
  'slow-disk': [embedded.measureSlowDisk],
  start: [resources.measureServersStart, resources.measureEmbeddedStart],
  growth: [resources.measureGrowth(100_000), resources.measureGrowth(1_000_000)],
  size: [resources.measureSize],
  flood: [measureFlood],
  replicas: [measureReplicas],
  verifier: verifications,
  webhooks: [measureDeliveries, loginsWithWebhook('account.*', 0.98), loginsWithWebhook('session.*', 0.85)],
}
