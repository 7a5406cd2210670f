/** docs/openapi.json is what the routes say. */
import { openapiPage } from '../openapi-page.ts'
import { type Check, readFiles } from './source-files.ts'

export const checkOpenapi: Check = async () => {
  const [file] = await readFiles('docs/openapi.json')
  return file?.text === (await openapiPage())
    ? []
    : ['docs/openapi.json is not what bun scripts/write-openapi.ts writes']
}
