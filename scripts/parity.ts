/**
 * Prints how long each operation takes for known and for unknown identifiers, in milliseconds: the trimmed median of 300
 * interleaved samples of each class. They must lie within 3 ms or 5 %, and are measured up to three times before they
 * count as different. `bun scripts/parity.ts [--light-hash] [samples] [shape …]`; with --light-hash the password hash
 * costs nothing, so that other differences become visible. Exit code 1 if something differs.
 */
import {
  createPeople,
  creating,
  measure,
  measureContactChange,
  measureCreating,
  measureFactors,
  spread,
  startParityService,
  timedCalls,
  trimmedMedian,
} from '../test/helpers/parity.ts'
import { type Shape, shapes } from '../test/helpers/service.ts'

const ROUNDS = 3
const flags = process.argv.slice(2)
const lightHash = flags.includes('--light-hash')
const [count = '300', ...chosen] = flags.filter((flag) => flag !== '--light-hash')
const samples = Number(count)
let failed = 0

async function report(name: string, take: () => Promise<Map<string, number[]>>): Promise<void> {
  for (let round = 1; ; round++) {
    const times = await take()
    const { ms, alike } = spread(times)
    const again = !alike && round < ROUNDS
    const medians = [...times].map(([kind, each]) => `${kind} ${trimmedMedian(each).toFixed(2)}`)
    const result = alike ? 'alike' : again ? 'measured again' : 'DIFFERENT'
    console.log(`${name.padEnd(26)} ${medians.join(' · ')} · spread ${ms.toFixed(2)} ms: ${result}`)
    if (again) continue
    if (!alike) failed++
    return
  }
}

for (const shape of (chosen.length > 0 ? chosen : shapes) as Shape[]) {
  console.log(`\n${shape}, ${samples} samples of each class, milliseconds`)
  const service = await startParityService(shape, { lightHash })
  try {
    const people = await createPeople(service)
    for (const call of timedCalls) {
      await report(call.name, () => measure(service, call, people, samples))
    }
    await report('email/change', () => measureContactChange(service, people, samples))
    const guarded = people.get('two factors') as string
    await report('2fa/verify, which factor', () => measureFactors(service, guarded, samples))
  } finally {
    await service.close()
  }
  const open = await startParityService(shape, { lightHash, settings: creating })
  try {
    await report('2fa/request-otp, create', () => measureCreating(open, samples))
  } finally {
    await open.close()
  }
}
console.log(failed === 0 ? '\nNothing tells them apart.' : `\n${failed} operations tell them apart.`)
process.exit(failed === 0 ? 0 : 1)
