/** Reads a file that travels inside the executable: see paths.ts. */

/** Its content as it was before the build compressed it. */
export async function readAsset(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(path).bytes()
  return path.endsWith('.zst') ? new Uint8Array(await Bun.zstdDecompress(bytes)) : bytes
}
