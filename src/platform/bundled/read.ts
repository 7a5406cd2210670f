/** Reads a file inside the executable (see paths.ts) and undoes the build's compression. */
export async function readAsset(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(path).bytes()
  return path.endsWith('.zst') ? new Uint8Array(await Bun.zstdDecompress(bytes)) : bytes
}
