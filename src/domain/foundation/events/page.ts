/** Lists in pages. The cursor is the id of the last item, so that pages do not overlap while rows are added. */
import { invalid, parseWholeNumber } from '../../../platform/http/read-values.ts'

export interface PageQuery {
  /** As text, from the query of a request. */
  limit?: string | undefined
  cursor?: string | undefined
}

export const DEFAULT_LIMIT = 50
export const MAXIMUM_LIMIT = 200

export interface Page<Item> {
  items: Item[]
  next_cursor: string | null
}

/** Throws `validation_failed`. `after`: the id of the last item of the page before; null for the first page. */
export function readPage({ limit, cursor }: PageQuery, maximum = MAXIMUM_LIMIT) {
  const rows = limit === undefined ? DEFAULT_LIMIT : parseWholeNumber(limit, { minimum: 1, maximum })
  const after = cursor === undefined ? null : parseWholeNumber(textOf(cursor), { minimum: 1 })
  const isCursor = cursor === undefined || after !== null
  if (rows === null || !isCursor)
    throw invalid(...(rows === null ? ['limit'] : []), ...(isCursor ? [] : ['cursor']))
  return { limit: rows, after }
}

const textOf = (cursor: string) => Buffer.from(cursor, 'base64url').toString()

/** `found`: up to one more than `limit`, which shows that there is another page. */
export function toPage<Row extends { id: number }, Item>(
  found: Row[],
  limit: number,
  toItem: (row: Row) => Item,
): Page<Item> {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    items: rows.map(toItem),
    next_cursor: last === undefined ? null : Buffer.from(String(last.id)).toString('base64url'),
  }
}
