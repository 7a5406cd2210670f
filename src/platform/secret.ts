/**
 * The keys that are derived from the server secret (HKDF-SHA-256, RFC 5869). Each use has a label of its own, so that no
 * key serves two purposes.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

export interface ServerSecret {
  /** HMAC-SHA-256 over the parts, each preceded by its length, so that no two lists of parts collide. */
  tag(label: string, ...parts: (string | Uint8Array)[]): Buffer
  /** AES-256-GCM; opens only under the same label. */
  seal(label: string, plaintext: string): Buffer
  /** Throws if the box was changed, or sealed under another secret or label. */
  open(label: string, box: Uint8Array): string
}

export function createServerSecret(secret: Uint8Array): ServerSecret {
  const keys = new Map<string, Buffer>()
  const keyOf = (label: string) => {
    let key = keys.get(label)
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', secret, new Uint8Array(), `poterne ${label}`, 32))
      keys.set(label, key)
    }
    return key
  }
  return {
    tag(label, ...parts) {
      const mac = createHmac('sha256', keyOf(label))
      for (const part of parts) {
        const bytes = Buffer.from(part as string)
        const length = Buffer.alloc(4)
        length.writeUInt32BE(bytes.length)
        mac.update(length).update(bytes)
      }
      return mac.digest()
    },
    seal(label, plaintext) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyOf(label), nonce)
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(label, box) {
      const bytes = Buffer.from(box)
      const decipher = createDecipheriv('aes-256-gcm', keyOf(label), bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}
