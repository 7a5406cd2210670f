import { expect, test } from 'bun:test'
import { createQuestionTurns } from '../../src/domain/accounts/admission/turns.ts'

test('one at a time for each key, eight at once, and nobody waits for ever', async () => {
  const turns = createQuestionTurns(20)
  const first = await turns.take(['account', 'address'])
  expect(await turns.take(['account', 'another address'])).toBeNull()
  expect(await turns.take(['another account', 'address'])).toBeNull()
  const others = await Promise.all(Array.from({ length: 7 }, (_, other) => turns.take([`other ${other}`])))
  expect(others).not.toContain(null)
  expect(await turns.take(['one too many'])).toBeNull()
  first!()
  expect(await turns.take(['one too many'])).not.toBeNull()
})

test('those who wait begin in their order, and whoever waits for a key keeps no place from the others', async () => {
  const turns = createQuestionTurns(1000)
  const first = await turns.take(['account'])
  const order: string[] = []
  const waiting = ['second', 'third'].map(async (name) => {
    const end = await turns.take(['account'])
    order.push(name)
    end!()
  })
  const others = await Promise.all(Array.from({ length: 7 }, (_, other) => turns.take([`other ${other}`])))
  expect(others).not.toContain(null)
  first!()
  await Promise.all(waiting)
  expect(order).toEqual(['second', 'third'])
})
