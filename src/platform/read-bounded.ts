/** Reads everything that comes into memory. Throws what `tooLarge` gives where it is more than that. */
export async function readBounded(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mostBytes: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.byteLength
    if (length > mostBytes) throw tooLarge()
    read.push(chunk)
  }
  return Buffer.concat(read)
}
