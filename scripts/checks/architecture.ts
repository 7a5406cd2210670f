/** docs/architecture.md shows the layers and the imports as they are, and describes each room in its order. */
import { describedRooms, drawDiagrams } from '../architecture-diagrams.ts'
import { roomOrder } from '../check-layers.ts'
import { type Check, readFiles } from './source-files.ts'

const PAGE = 'docs/architecture.md'

export const checkArchitecture: Check = async () => {
  const [file] = await readFiles(PAGE)
  const page = file?.text ?? ''
  const problems: string[] = []
  if (drawDiagrams(page, await readFiles('src/**/*.ts')) !== page) {
    problems.push(`the diagrams of ${PAGE} differ from the imports: bun run fix writes them`)
  }
  if (describedRooms(page).join() !== roomOrder.join()) {
    problems.push(`the table of rooms in ${PAGE} differs from the order of scripts/check-layers.ts`)
  }
  return problems
}
