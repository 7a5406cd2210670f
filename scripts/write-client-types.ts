/** Writes src/client/api.ts from docs/openapi.json. */
import { clientTypes } from './client-types.ts'

const openapi = Bun.file(new URL('../docs/openapi.json', import.meta.url))
await Bun.write(new URL('../src/client/api.ts', import.meta.url), await clientTypes(await openapi.text()))
console.log('wrote src/client/api.ts')
