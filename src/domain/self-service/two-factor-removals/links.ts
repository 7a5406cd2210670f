/**
 * The link by which an owner keeps two-factor sign-in on. It holds the id of the removal and a keyed tag of it, so that it
 * can be made when a message is sent and is stored nowhere.
 */
import { timingSafeEqual } from 'node:crypto'
import type { ServerSecret } from '../../../platform/secret.ts'

export const STOP_PATH = '/stop'

const ID_BYTES = 16
const TAG_BYTES = 16

export function createRemovalLinks({ secret, baseUrl }: { secret: ServerSecret; baseUrl: string }) {
  const tagOf = (id: Uint8Array) => secret.tag('stop removal', id).subarray(0, TAG_BYTES)
  return {
    linkTo(id: string): string {
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
      const token = Buffer.concat([bytes, tagOf(bytes)]).toString('base64url')
      return `${baseUrl.replace(/\/$/, '')}${STOP_PATH}?t=${token}`
    },
    /** It returns null where nobody here made it. */
    idOf(token: string): string | null {
      if (!/^[\w-]{43}$/.test(token)) return null
      const bytes = Buffer.from(token, 'base64url')
      const id = bytes.subarray(0, ID_BYTES)
      const tag = bytes.subarray(ID_BYTES)
      if (tag.length !== TAG_BYTES || !timingSafeEqual(tag, tagOf(id))) return null
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}
