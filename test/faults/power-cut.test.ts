/**
 * The power is cut for real: the disk of the embedded database goes away without its journal, and with any part of what was
 * not flushed. The executable opens what is left, everything acknowledged is there, and every page is whole. 3 cuts with
 * TEST_POWER_CUTS=1, 60 with TEST_SOAK=1. Skipped where this machine has no loop devices.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Acknowledged, examine, load } from '../helpers/acknowledged.ts'
import { type Executable, runExecutable, spawnExecutable, startExecutable } from '../helpers/executable.ts'
import { startGateway } from '../helpers/gateway.ts'
import { type LossyDisk, makeLossyDisk, obstacleToLossyDisks } from '../helpers/lossy-disk.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { reduced, soaking } from '../helpers/soak.ts'
import { createRandom, seed } from '../random/seed.ts'

setDefaultTimeout(reduced(180_000, 3_600_000))

const obstacle = obstacleToLossyDisks(newDirectory('lossy'))
if (obstacle !== null) process.stderr.write(`no power cuts: ${obstacle}\n`)

const { below } = createRandom(seed)
const random = () => below(2 ** 30) / 2 ** 30
const LOAD_MS = 2500
/** They take a minute: TEST_POWER_CUTS=1 asks for them in a run that is no soak. */
const areWanted = process.env.TEST_POWER_CUTS === '1'
const PASSPHRASE = 'a passphrase for the power cut'

interface World {
  disk: LossyDisk
  dataDir: string
  smtp: Executable['smtp']
  gateway: Executable['gateway']
  acknowledged: Acknowledged[]
  start(wrapper?: string[]): Promise<Executable>
  /** Some of what was written reaches the disk, and then nothing more. */
  cut(): void
  /** Opens what is left, and compares it with what was acknowledged. */
  examine(): Promise<void>
}

async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  const disk = makeLossyDisk(newDirectory('lossy'))
  const dataDir = join(disk.path, 'data')
  const smtp = await startSmtp({ security: 'none', auth: null })
  const gateway = await startGateway()
  const acknowledged: Acknowledged[] = []
  const storage = { storage: { data_dir: dataDir } }
  const services: Executable[] = []
  try {
    await work({
      ...{ disk, dataDir, smtp, gateway, acknowledged },
      async start(wrapper) {
        services.push(await startExecutable({ storage, smtp, gateway, ...(wrapper && { wrapper }) }))
        return services.at(-1)!
      },
      cut() {
        disk.writeBack(random, [0, 0.3, 0.7, 1][below(4)]!)
        disk.cut()
      },
      async examine() {
        disk.mountAgain()
        await examine(dataDir, { smtp, gateway, acknowledged })
      },
    })
  } finally {
    for (const service of services) await service.kill('SIGKILL').catch(() => {})
    disk.remove()
    await Promise.all([smtp.stop(), gateway.stop()])
  }
}

/** So many people, and then the power goes after that time; the load goes on meanwhile where it is negative. */
const cutAfter = (ms: number) => () =>
  inWorld(async (world) => {
    const service = await world.start()
    const loading = load(service, world.acknowledged, LOAD_MS).catch(() => {})
    if (ms >= 0) await loading
    await Bun.sleep(ms >= 0 ? ms : LOAD_MS + ms)
    world.cut()
    // Whatever is answered now was not promised by this disk.
    const promised = [...world.acknowledged]
    await service.kill('SIGKILL')
    await loading
    world.acknowledged.splice(0, Number.POSITIVE_INFINITY, ...promised)
    if (ms >= 0) expect(promised.length).toBeGreaterThan(5)
    await world.examine()
  })

/** A command on a stopped database, cut `whileRunning`, or right after it said that it had succeeded. */
async function cutCommand(
  world: World,
  args: string[],
  whileRunning: boolean,
  done: boolean[],
): Promise<void> {
  const running = await spawnExecutable(args)
  if (whileRunning) await Promise.race([running.exited, Bun.sleep(below(2500))])
  else await running.exited
  const code = await Promise.race([running.exited, Bun.sleep(0).then(() => null)])
  world.cut()
  done.push(code === 0)
  running.signal('SIGKILL')
  await running.exited
  if (!whileRunning) expect(code, running.stderr()).toBe(0)
}

async function stopped(world: World): Promise<{ service: Executable; passphraseArgs: string[] }> {
  const service = await world.start()
  await load(service, world.acknowledged, LOAD_MS)
  await service.kill('SIGTERM')
  const passphrase = join(newDirectory('passphrase'), 'file')
  writeFileSync(passphrase, PASSPHRASE, { mode: 0o600 })
  return { service, passphraseArgs: ['--passphrase-file', passphrase] }
}

const duringRestore = (whileRunning: boolean) => () =>
  inWorld(async (world) => {
    const { service, passphraseArgs } = await stopped(world)
    const file = join(newDirectory('backup'), 'backup')
    const made = await runExecutable(['backup', file, ...passphraseArgs, ...service.configArgs])
    expect(made.code, made.error).toBe(0)
    const restore = [
      'restore',
      file,
      '--replace',
      '--yes',
      '--keep-sessions',
      ...passphraseArgs,
      ...service.configArgs,
    ]
    await cutCommand(world, restore, whileRunning, [])
    // The data of before and that of the backup are the same.
    await world.examine()
  })

const duringBackup = (whileRunning: boolean) => () =>
  inWorld(async (world) => {
    const { service, passphraseArgs } = await stopped(world)
    const file = join(world.disk.path, 'backup')
    const done: boolean[] = []
    await cutCommand(world, ['backup', file, ...passphraseArgs, ...service.configArgs], whileRunning, done)
    await world.examine()
    if (done[0]) {
      const restored = join(newDirectory('restored'), 'data')
      const args = ['restore', file, ...passphraseArgs]
      const { code, error } = await runExecutable(args, { env: { POTERNE_STORAGE_DATA_DIR: restored } })
      // It holds no secret: that it can be read to its end is what counts.
      expect(code === 0 || error.includes('another server secret'), error).toBe(true)
    } else if (existsSync(file)) expect(false, 'half a backup has the name of a whole one').toBe(true)
  })

/** A start vacuums every table whose numbers were lost by the kill before; an end makes a checkpoint. */
const duringUpkeep = (what: 'vacuum' | 'checkpoint') => () =>
  inWorld(async (world) => {
    const first = await world.start()
    await load(first, world.acknowledged, LOAD_MS)
    let service = first
    if (what === 'vacuum') {
      await first.kill('SIGKILL')
      service = await world.start()
      await Bun.sleep(900 + below(1500))
    } else {
      service.process().signal('SIGTERM')
      await Bun.sleep(below(400))
    }
    world.cut()
    await service.kill('SIGKILL')
    await world.examine()
  })

const afterFirstStart = () =>
  inWorld(async (world) => {
    const service = await world.start()
    world.cut()
    await service.kill('SIGKILL')
    await world.examine()
  })

/** Every flush is answered by strace, and never reaches the kernel: so these tests fail where nothing is flushed. */
const withoutFlushes = () =>
  inWorld(async (world) => {
    const calls = 'fsync,fdatasync,sync_file_range'
    const answered = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`]
    const service = await world.start([...answered, '-e', `inject=${calls}:retval=0`])
    await load(service, world.acknowledged, LOAD_MS)
    expect(world.acknowledged.length).toBeGreaterThan(0)
    world.disk.cut()
    await service.kill('SIGKILL')
    await expect(world.examine()).rejects.toThrow()
  })

/** With the number of runs in a soak; those marked as usual are run once otherwise. */
const scenarios: [what: string, run: () => Promise<void>, times: number, isUsual?: true][] = [
  ['at the last answer', cutAfter(0), 8, true],
  ['one second after the last answer', cutAfter(1000), 6],
  ['five seconds after the last answer', cutAfter(5000), 4],
  ['in the midst of requests', cutAfter(-500), 8, true],
  ['after the first start', afterFirstStart, 6],
  ['during a restore', duringRestore(true), 4],
  ['after a restore has succeeded', duringRestore(false), 5, true],
  ['during a backup', duringBackup(true), 2],
  ['after a backup has succeeded', duringBackup(false), 2],
  ['during a vacuum', duringUpkeep('vacuum'), 4],
  ['during a checkpoint', duringUpkeep('checkpoint'), 4],
]

describe.skipIf(obstacle !== null)('when the power is cut', () => {
  for (const [what, run, times, isUsual] of scenarios.filter(
    ([, , , usual]) => soaking || (areWanted && usual),
  ))
    test.each(Array.from({ length: isUsual && !soaking ? 1 : times }, (_, index) => index + 1))(
      `${what}, nothing acknowledged is lost (%i, TEST_SEED=${seed})`,
      run,
    )

  if (soaking || areWanted)
    test('a service whose flushes do nothing loses what was acknowledged', withoutFlushes)
})
