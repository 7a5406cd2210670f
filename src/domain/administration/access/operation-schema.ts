/** What the operations of administration have in common: text in queries, "it is done", how they are described. */
import { t } from 'elysia'
import { answer } from '../../../platform/http/components.ts'

/** A field of a query; what it says is read by the service. */
export const text = () => t.Optional(t.String({ maxLength: 300 }))

export const done = { status: 200 as const }
export const doneAnswer = answer('Done', { status: t.Literal(200) }, 'It is done.')

export const detail = (operationId: string, summary: string) => ({
  tags: ['Administration'],
  operationId,
  summary,
})
