/**
 * A process of its own beside a test run: when the run ends, however it ends, it stops every server the run started
 * and removes the run's directory. Called by run-directory.ts: `bun guard.ts OWNER_PID OWNER_START DIRECTORY`.
 */
import { existsSync, rmSync } from 'node:fs'
import { endProcesses, processStart } from './processes.ts'

const [owner, ownerStart, directory] = process.argv.slice(2)
if (owner === undefined || ownerStart === undefined || directory === undefined) process.exit(2)

while (processStart(Number(owner)) === ownerStart) await Bun.sleep(500)
// Again while something that was just starting still writes.
for (let tries = 0; existsSync(directory) && tries < 20; tries++) {
  await endProcesses(directory)
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch {
    await Bun.sleep(100)
  }
}
