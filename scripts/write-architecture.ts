/** Writes the diagrams of docs/architecture.md from the imports. */
import { drawDiagrams } from './architecture-diagrams.ts'
import { readFiles } from './checks/source-files.ts'

const page = new URL('../docs/architecture.md', import.meta.url)
await Bun.write(page, drawDiagrams(await Bun.file(page).text(), await readFiles('src/**/*.ts')))
console.log('wrote docs/architecture.md')
