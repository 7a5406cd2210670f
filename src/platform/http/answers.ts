/** The answers of routes: their schemas, and the bodies that handlers return. Each begins with its status. */

import type { TProperties } from '@sinclair/typebox'
import { status, type TSchema, t } from 'elysia'
import { component } from './components.ts'
import { nullable } from './schemas.ts'

/** The schema of an answer of that name; `description` says what it means that it came. */
export const answer = <Fields extends TProperties, const Status extends number = 200>(
  name: string,
  fields: Fields,
  description: string,
  status = 200 as Status,
) => component(name, t.Object({ status: t.Literal(status), ...fields }, { description }))

export function messageAnswer<const Status extends 200 | 201>(status: Status) {
  const [name, description, example] =
    status === 200
      ? ['Done', 'Done; `message` tells the person.', 'Done.']
      : ['Accepted', 'Accepted; `message` tells the person what comes next.', 'A code is on its way.']
  return answer(name, { message: t.String({ examples: [example] }) }, description, status)
}

/** One page of a list: see `Page` of the room `events`. */
export const listAnswer = <Item extends TSchema>(name: string, item: Item, description: string) =>
  answer(name, { items: t.Array(item), next_cursor: nullable(t.String()) }, description)

/** The body of an answer 200. */
export const success = <Fields extends object>(fields: Fields) => ({ status: 200 as const, ...fields })

/** An answer 201. */
export const created = <Fields extends object>(fields: Fields) =>
  status(201, { status: 201 as const, ...fields })
