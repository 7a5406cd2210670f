/**
 * The states of the embedded database after a crash of the machine. Every operation of the executable on its files is
 * recorded with strace. States of the disk are made from them in which what was not flushed is lost, torn or reordered.
 * The executable opens each: everything acknowledged is there, and every page is whole. There are 321 of three kinds.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Acknowledged, dataDirOf, examine, load } from '../helpers/acknowledged.ts'
import { type CrashModel, createCrashModel, type Loss, losses } from '../helpers/crash-states.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { createRecorder } from '../helpers/recorded-files.ts'
import { newFastDirectory } from '../helpers/run-directory.ts'
import { createRandom, seed } from '../random/seed.ts'

/** Each test tries so many. TEST_STATES sets the number by itself, for a soak in pieces with several seeds. */
const STATES = Number(process.env.TEST_STATES ?? 107)
const SECONDS = 20

setDefaultTimeout(Math.max(300_000, STATES * 30_000))

interface Recorded {
  service: Executable
  model: CrashModel
  acknowledged: Acknowledged[]
}

/** The moments worth a crash: soon after something was acknowledged, and anywhere. */
function momentOf({ model, acknowledged }: Recorded, random: () => number, wanted: 'soon' | 'any'): number {
  const pick = <T>(all: T[]) => all[Math.floor(random() * all.length)]!
  if (wanted === 'any' || acknowledged.length === 0) return pick(model.times) + 0.001
  return pick(acknowledged).at + random()
}

async function tryStates(recorded: Recorded, count: number, wanted: 'soon' | 'any'): Promise<void> {
  const { below } = createRandom(seed)
  const random = () => below(2 ** 30) / 2 ** 30
  const { smtp, gateway } = recorded.service
  const failed: string[] = []
  for (let number = 0; number < count; number++) {
    const loss: Loss = number % 2 === 0 ? 'some' : losses[number % losses.length]!
    const atMs = momentOf(recorded, random, wanted)
    const target = join(newFastDirectory('state'), 'data')
    recorded.model.write(target, atMs, loss, random)
    const expected = recorded.acknowledged.filter(({ at }) => at <= atMs)
    try {
      await examine(target, { smtp, gateway, acknowledged: expected })
      rmSync(target, { recursive: true, force: true })
    } catch (error) {
      failed.push(
        `state ${number} (${loss}, ${expected.length} acknowledged, ${target}): ${(error as Error).message.slice(0, 600)}`,
      )
    }
  }
  if (failed.length > 0)
    throw new Error(`TEST_SEED=${seed}: ${failed.length} of ${count}\n${failed.join('\n')}`)
}

describe('a crash of the machine', () => {
  test('while it makes its database for the first time leaves one that opens', async () => {
    const recorder = createRecorder()
    const service = await startExecutable({ shape: 'embedded', wrapper: recorder.wrapper })
    await service.kill('SIGKILL')
    const dataDir = dataDirOf(service)
    const model = createCrashModel(await recorder.read(dataDir), dataDir)
    await tryStates({ service, model, acknowledged: [] }, STATES, 'any')
    await service.close()
  })

  test('under load loses nothing that was acknowledged', async () => {
    const recorder = createRecorder()
    const acknowledged: Acknowledged[] = []
    const service = await startExecutable({ shape: 'embedded', wrapper: recorder.wrapper })
    await load(service, acknowledged, SECONDS * 1000)
    await service.kill('SIGKILL')
    const dataDir = dataDirOf(service)
    const operations = await recorder.read(dataDir)
    const model = createCrashModel(operations, dataDir)
    await tryStates({ service, model, acknowledged }, STATES, 'soon')
    const unflushed = createCrashModel(
      operations.filter(({ kind }) => kind !== 'sync'),
      dataDir,
    )
    const withoutFlushes = tryStates({ service, model: unflushed, acknowledged }, 1, 'soon')
    await expect(withoutFlushes, 'the test would see nothing').rejects.toThrow('1 of 1')
    await service.close()
  })

  test('during the recovery from a crash loses nothing either', async () => {
    const acknowledged: Acknowledged[] = []
    const first = await startExecutable({ shape: 'embedded' })
    await load(first, acknowledged, SECONDS * 1000)
    await first.kill('SIGKILL')
    const dataDir = dataDirOf(first)
    const base = join(newFastDirectory('base'), 'data')
    cpSync(dataDir, base, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const recorder = createRecorder()
    const service = await startExecutable({
      storage: first.storage,
      smtp: first.smtp,
      gateway: first.gateway,
      wrapper: recorder.wrapper,
    })
    await Bun.sleep(2000)
    await service.kill('SIGKILL')
    const model = createCrashModel(await recorder.read(dataDir), dataDir, base)
    await tryStates({ service, model, acknowledged }, STATES, 'any')
    await service.close()
    await first.close()
  })
})
