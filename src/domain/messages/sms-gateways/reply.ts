/** Reads what a gateway, or the server of its tokens, replies: a part of it, however long it is. */

const REPLY_BYTES = 65_536

/** A reply read to its end leaves the connection fit for the next message. */
export async function readReply(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  while (reader && length <= REPLY_BYTES) {
    const { done, value } = await reader.read()
    if (done) return text(chunks)
    chunks.push(value)
    length += value.byteLength
  }
  await reader?.cancel()
  return text(chunks)
}

/** The decoder takes a byte order mark away, which is no part of JSON (RFC 8259, 8.1), nor of a word. */
const text = (chunks: Uint8Array[]) =>
  new TextDecoder().decode(Buffer.concat(chunks).subarray(0, REPLY_BYTES))
