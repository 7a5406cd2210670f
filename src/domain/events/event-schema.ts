/** Events as answers hold them. */
import { t } from 'elysia'
import { nullable, timeField } from '../../platform/http/schemas.ts'

/** As text: what is no number is refused by `readPage`, with the field's name. */
export const pageQuery = {
  limit: t.Optional(t.String({ description: 'Items of one page: 1 to 200; default 50' })),
  cursor: t.Optional(t.String({ description: '`next_cursor` of the page before', maxLength: 200 })),
}

export const eventSchema = t.Object({
  id: t.Integer(),
  type: t.String({ examples: ['login.succeeded'] }),
  created_at: timeField(),
  outcome: t.Union([t.Literal('success'), t.Literal('failure')]),
  account: nullable(t.String({ description: 'The uuid of the account' })),
  actor: t.Object({
    type: t.String({ enum: ['account', 'administrator', 'token', 'operator', 'system'] }),
    id: nullable(t.String()),
    name: nullable(t.String()),
  }),
  session_id: nullable(t.String()),
  request_id: nullable(t.String()),
  address: nullable(t.String()),
  device: nullable(t.String()),
  data: t.Record(t.String(), t.Unknown()),
})

export const eventsAnswer = t.Object({
  status: t.Literal(200),
  items: t.Array(eventSchema),
  next_cursor: nullable(t.String()),
})
