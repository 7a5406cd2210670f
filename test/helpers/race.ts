/** Races: 32 callers at the same time for something that may succeed once. */
import { expect } from 'bun:test'
import type { Answer } from './api-client.ts'

/** The callers go by turns to each of `services`; the answers come in the order of the callers. */
export const race = <Service, Result>(
  services: Service[],
  call: (service: Service, caller: number) => Promise<Result>,
): Promise<Result[]> =>
  Promise.all(
    Array.from({ length: 32 }, (_, caller) => call(services[caller % services.length] as Service, caller)),
  )

/**
 * Asks again what was not done for want of a connection to the database, as a client does: 32 callers who wait for one row
 * may take longer on a busy machine than each of them waits for a connection.
 */
export async function untilAvailable(call: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await call()
    if (answer.body?.code !== 'unavailable' || tries === 10) return answer
  }
}

/** The only success of a race; all other callers must have got one of these refusals. */
export function onlySuccess(answers: Answer[], ...refusals: string[]): Answer {
  const succeeded = ({ status }: Answer) => status >= 200 && status < 300
  const others = new Set(answers.filter((answer) => !succeeded(answer)).map(({ body }) => body?.code))
  expect([...others].filter((code) => !refusals.includes(code))).toEqual([])
  expect(answers.filter(succeeded).map(({ status }) => status)).toHaveLength(1)
  return answers.find(succeeded) as Answer
}
