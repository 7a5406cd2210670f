/** The client package as one module for a browser. */
import { join } from 'node:path'
import { build } from 'esbuild'

export async function browserClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dir, '../../src/client/index.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  return outputFiles[0]!.text
}
