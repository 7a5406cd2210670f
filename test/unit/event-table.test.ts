/** docs/events.md and the interface description name every type of event and every field of its data, and no other. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { eventTypes } from '../../src/domain/foundation/events/event.ts'
import { eventDataSchema } from '../../src/domain/foundation/events/event-data-schema.ts'
import { countedTypes, toldTypes } from '../../src/texts/event-types.ts'

const read = (path: string) => Bun.file(join(import.meta.dir, '../..', path)).text()

test('the table of docs/events.md has a sentence for each type, in the order of the code', async () => {
  const rows = [...(await read('docs/events.md')).matchAll(/^\| `([a-z_.]+)` \| (.+) \|$/gm)]
  expect(rows.map(([, type]) => type as string)).toEqual([...eventTypes])
  for (const [, , sentence] of rows) expect((sentence as string).length).toBeGreaterThan(12)
})

test('the table names every field of the data, and no other', async () => {
  const rows = [...(await read('docs/events.md')).matchAll(/^\| `[a-z_.]+` \| .+ \|(.*)\|$/gm)]
  const named = rows.flatMap(([, cell]) => (cell as string).match(/[a-z_]+(?=`)/g) ?? [])
  expect([...new Set(named)].sort()).toEqual(Object.keys(eventDataSchema.properties).sort())
})

test('what is counted is counted in the table too, and no webhook is told of it', async () => {
  const rows = [...(await read('docs/events.md')).matchAll(/^\| `([a-z_.]+)` \| .+ \| `count` \|$/gm)]
  expect(rows.map(([, type]) => type as string).sort()).toEqual([...countedTypes].sort() as string[])
  const kinds = eventTypes.map((type) => type.replace(/\..*/, '.*'))
  const untold = eventTypes.filter((type) => !toldTypes(kinds).includes(type))
  expect<string[]>(untold.sort()).toEqual(['account.viewed', ...countedTypes].sort())
  expect(toldTypes(['login.*', 'account.viewed'])).toEqual(['login.succeeded'])
})

test('the interface description enumerates them', async () => {
  const { components } = JSON.parse(await read('docs/openapi.json'))
  expect(components.schemas.Event.properties.type.enum).toEqual([...eventTypes])
})
