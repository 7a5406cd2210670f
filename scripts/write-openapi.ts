/** Writes docs/openapi.json from the routes. */
import { openapiPage } from './openapi-page.ts'

await Bun.write(new URL('../docs/openapi.json', import.meta.url), await openapiPage())
console.log('wrote docs/openapi.json')
