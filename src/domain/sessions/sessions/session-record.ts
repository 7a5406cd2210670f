/** A session as lists show it, to its owner and to administrators. */
import type { ListedSession } from './session.ts'

export const sessionRecord = (session: ListedSession) => ({
  id: session.id,
  device_type: session.deviceType,
  device_name: session.deviceName,
  device_os: session.deviceOs,
  ip: session.ip,
  created_at: session.createdAt.toISOString(),
  last_used_at: session.lastUsedAt.toISOString(),
  expires_at: session.expiresAt.toISOString(),
})
