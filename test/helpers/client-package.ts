/** Entries of the client package, each as one module. */
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

async function bundled(entry: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dir, '../../src/client', entry)],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    ...options,
  })
  return outputFiles![0]!.text
}

/** `@poterne/client` for a browser. */
export const browserClient = () => bundled('index.ts')

/** `@poterne/client/server` for Node, `jose` included. */
export const serverClient = () => bundled('server.ts', { platform: 'node' })
