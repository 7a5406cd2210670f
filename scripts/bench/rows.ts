/** The rows of the table, in its order. */
import type { Row } from './row.ts'
import { requestOtpRow, verifyAccountRow } from './rows/codes.ts'
import { embeddedRow } from './rows/embedded.ts'
import { floodRow } from './rows/flood.ts'
import { growthRow } from './rows/growth.ts'
import { handOverRow } from './rows/hand-over.ts'
import { loginsRow, registrationsRow } from './rows/hashing.ts'
import { loginsRivalRow } from './rows/logins-rival.ts'
import { meRow } from './rows/me.ts'
import { memoryRow } from './rows/memory.ts'
import { pageSignInRow } from './rows/page-sign-in.ts'
import { passkeysRow } from './rows/passkeys.ts'
import { refreshRow } from './rows/refresh.ts'
import { refreshLatencyRow } from './rows/refresh-latency.ts'
import { replicasRow } from './rows/replicas.ts'
import { sizeRow } from './rows/size.ts'
import { slowDiskRow } from './rows/slow-disk.ts'
import { startRow } from './rows/start.ts'
import { verifierRow } from './rows/verifier.ts'
import { webhooksRow } from './rows/webhooks.ts'

export const rows: Row[] = [
  loginsRow,
  loginsRivalRow,
  passkeysRow,
  registrationsRow,
  verifyAccountRow,
  requestOtpRow,
  refreshRow,
  meRow,
  pageSignInRow,
  handOverRow,
  refreshLatencyRow,
  memoryRow,
  embeddedRow,
  slowDiskRow,
  startRow,
  growthRow,
  sizeRow,
  floodRow,
  replicasRow,
  verifierRow,
  webhooksRow,
]
