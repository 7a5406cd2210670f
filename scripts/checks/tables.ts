/** Each table is written by its owner alone; see table-owners.ts. */
import { checkTableOwners } from '../table-owners.ts'
import { type Check, readFiles } from './source-files.ts'

export const checkTables: Check = async () => checkTableOwners(await readFiles('src/**/*.ts'))
