/** The row of the table `accounts`, for the statements of every room that reads whole accounts. */
import { accounts } from '../../platform/postgres/schema.ts'
import { rowOf } from '../../platform/postgres/statement.ts'

export const accountRow = rowOf(accounts)
