/**
 * A random walk: owners and attackers do thousands of things in a random order, alone and all at once, while time jumps
 * and servers fail. The service's promises hold after each step. TEST_SEED replays one, TEST_STEPS and
 * TEST_SOAK make it long; a failure says its seed and its steps.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Shape } from '../helpers/service.ts'
import * as attacks from './attacks.ts'
import * as bursts from './bursts.ts'
import { disturb, moveTime } from './disturbances.ts'
import { checkAccounts, checkSecrets } from './dump.ts'
import * as moves from './moves.ts'
import { createRandom, seed, soaking, stepsOf } from './seed.ts'
import { createWalker, type Walker } from './walker.ts'
import { startWorld } from './world.ts'

setDefaultTimeout(soaking ? 3_600_000 : 180_000)

/** The more often a move stands here, the more often it is made. */
const deck: moves.Move[] = [
  ...Array<moves.Move>(6).fill(moves.register),
  ...Array<moves.Move>(6).fill(moves.confirm),
  ...Array<moves.Move>(4).fill(moves.logIn),
  ...Array<moves.Move>(4).fill(moves.look),
  ...Array<moves.Move>(3).fill(moves.refresh),
  ...Array<moves.Move>(3).fill(attacks.squat),
  ...Array<moves.Move>(4).fill(moveTime),
  ...Object.values(moves),
  ...Object.values(attacks),
  ...Object.values(bursts),
]

const CHECK_EVERY = 100

async function checkAll(walker: Walker): Promise<void> {
  await walker.world.settle()
  await checkAccounts(walker.world)
  await checkSecrets(walker.world)
}

async function walk(shape: Shape, limited: boolean, steps: number, disturbances: number): Promise<number> {
  const random = createRandom(seed)
  const world = await startWorld(random, shape, limited)
  const walker = createWalker(world, random)
  const said: string[] = []
  let done = 0
  try {
    for (let step = 1; step <= steps; step++) {
      const hasSome = [...walker.owners, ...walker.attackers].some(({ account }) => account !== null)
      const disturbs = disturbances > 0 && random.oneIn(Math.ceil(steps / disturbances))
      const move = disturbs ? disturb : random.pick(hasSome ? deck : [moves.register, moves.confirm])
      said.push(`${step} ${move.name}`)
      said[said.length - 1] = `${step} ${await move(walker)}`
      if (!/: (not now|limited|no |none|nothing|has )/.test(said.at(-1)!)) done++
      if (process.env.TEST_TALK) console.log(said.at(-1))
      if (step % CHECK_EVERY === 0) await checkAll(walker)
    }
    await checkAll(walker)
  } catch (error) {
    const last = said.slice(-40).join('\n  ')
    const replay = `TEST_SEED=${seed} TEST_STEPS=${steps}${soaking ? ' TEST_SOAK=1' : ''}`
    throw new Error(`${(error as Error).message}\n${replay}, ${shape}, the last steps:\n  ${last}`, {
      cause: error,
    })
  } finally {
    await world.close()
  }
  return done
}

test(`a walk on PostgreSQL and Redis, with faults (TEST_SEED=${seed})`, async () => {
  expect(await walk('redis', false, stepsOf(120, 6000), soaking ? 60 : 3)).toBeGreaterThan(0)
})

if (soaking) {
  test(`a walk within the limits (TEST_SEED=${seed})`, async () => {
    expect(await walk('redis', true, stepsOf(0, 4000), 20)).toBeGreaterThan(0)
  })

  test(`a walk on PostgreSQL alone (TEST_SEED=${seed})`, async () => {
    expect(await walk('postgres', false, stepsOf(0, 3000), 20)).toBeGreaterThan(0)
  })

  test(`a walk on the embedded database (TEST_SEED=${seed})`, async () => {
    expect(await walk('embedded', false, stepsOf(0, 3000), 0)).toBeGreaterThan(0)
  })
}
