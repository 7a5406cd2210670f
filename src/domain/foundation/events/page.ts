/** Lists in pages. The cursor is the id of the last item, so that pages do not overlap while rows are added. */
import { outOfBounds, parseWholeNumber } from '../../../platform/http/read-values.ts'
import { AppError } from '../../../texts/errors.ts'

export interface PageQuery {
  /** It is text, from the query of a request. */
  limit?: string | undefined
  cursor?: string | undefined
}

const DEFAULT_LIMIT = 50
const MAXIMUM_LIMIT = 200

export interface Page<Item> {
  items: Item[]
  next_cursor: string | null
}

/** `after`: the id of the last item of the page before; null for the first page. */
export function readPage({ limit, cursor }: PageQuery, maximum = MAXIMUM_LIMIT) {
  const after = cursor === undefined ? null : parseWholeNumber(textOf(cursor), { minimum: 1 })
  return { limit: readLimit(limit, maximum, cursor === undefined || after !== null), after }
}

function readLimit(limit: string | undefined, maximum: number, isCursor: boolean): number {
  const rows = limit === undefined ? DEFAULT_LIMIT : parseWholeNumber(limit, { minimum: 1, maximum })
  if (rows !== null && isCursor) return rows
  const fields = [
    ...(rows === null ? [outOfBounds('limit', { minimum: 1, maximum })] : []),
    ...(isCursor ? [] : [outOfBounds('cursor')]),
  ]
  throw new AppError('validation_failed', { fields })
}

/**
 * A page of a short list that is read whole, in the order of its keys. The cursor names its list and the key of the
 * last item, which need not be there any more.
 */
export function pageOf<Item>(
  { limit, cursor }: PageQuery,
  items: Item[],
  {
    list,
    keyOf,
    newestFirst = false,
  }: { list: string; keyOf: (item: Item) => string; newestFirst?: boolean },
): Page<Item> {
  const prefix = `${list} `
  const rows = readLimit(limit, MAXIMUM_LIMIT, cursor === undefined || textOf(cursor).startsWith(prefix))
  const last = cursor === undefined ? null : textOf(cursor).slice(prefix.length)
  const [before, after] = newestFirst ? [1, -1] : [-1, 1]
  const sorted = items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? before : after))
  const rest = last === null ? sorted : sorted.filter((item) => isAfter(keyOf(item), last, newestFirst))
  const page = rest.slice(0, rows)
  const end = rest.length > rows ? page.at(-1) : undefined
  return {
    items: page,
    next_cursor: end === undefined ? null : Buffer.from(prefix + keyOf(end)).toString('base64url'),
  }
}

const isAfter = (key: string, last: string, newestFirst: boolean) => (newestFirst ? key < last : key > last)

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

/** The same page as clients see it. */
export const recordsOf = <Item, Record>(page: Page<Item>, record: (item: Item) => Record): Page<Record> => ({
  ...page,
  items: page.items.map(record),
})

/** One list of several that are each sorted from the newest row on; a row that is in two of them is once in it. */
export function mergeNewest<Row extends { id: number }>(lists: Row[][], limit: number): Row[] {
  const rows = new Map(lists.flat().map((row) => [row.id, row]))
  return [...rows.values()].toSorted((one, other) => other.id - one.id).slice(0, limit)
}
