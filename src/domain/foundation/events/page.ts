/** Lists in pages. The cursor is the id of the last item, so that pages do not overlap while rows are added. */
import { AppError } from '../../../errors.ts'

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
  const rows = limit === undefined ? DEFAULT_LIMIT : Number(limit)
  const after = cursor === undefined ? null : Number(Buffer.from(cursor, 'base64url').toString())
  const wrong = [
    ...(Number.isInteger(rows) && rows >= 1 && rows <= maximum ? [] : ['limit']),
    ...(after === null || (Number.isSafeInteger(after) && after > 0) ? [] : ['cursor']),
  ]
  if (wrong.length > 0)
    throw new AppError('validation_failed', {
      fields: wrong.map((field) => ({ field, code: 'invalid_value' as const })),
    })
  return { limit: rows, after }
}

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
