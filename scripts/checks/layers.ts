/** Imports go in one direction; see check-layers.ts. */
import { checkLayers } from '../check-layers.ts'
import { type Check, readFiles } from './source-files.ts'

export const checkImports: Check = async () => checkLayers(await readFiles('src/**/*.ts'))
