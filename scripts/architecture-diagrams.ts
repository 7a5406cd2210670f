/** The diagrams of docs/architecture.md, drawn from the layers that check-layers.ts holds and from the imports. */
import { domainOrder, floors, roomImports, type SourceFile } from './check-layers.ts'

/** Returns the page with both diagrams drawn anew between their marks. */
export function drawDiagrams(page: string, files: SourceFile[]): string {
  const diagrams = { floors: drawFloors(), rooms: drawRooms(roomImports(files)) }
  return Object.entries(diagrams).reduce(
    (text, [name, lines]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}\`\`\`mermaid\n${lines.join('\n')}\n\`\`\`\n${end}`,
      ),
    page,
  )
}

/** The rooms that the table of the page describes, in the order of the table. */
export function describedRooms(page: string): string[] {
  return [...page.matchAll(/^\| \[`([a-z-]+)`\]\(/gm)].map(([, room]) => room as string)
}

function drawFloors(): string[] {
  const names = floors.flat().filter((floor) => floor !== 'errors')
  return ['flowchart LR', `  ${[...names].reverse().join(' --> ')}`]
}

/** Leaves out an arrow if a longer chain of arrows leads to the same room. */
function drawRooms(imports: Map<string, Set<string>>): string[] {
  const leadsTo = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((room) => room === to || leadsTo(room, to))
  const arrows = [...domainOrder].reverse().flatMap((room) => {
    const targets = [...(imports.get(room) ?? [])]
    return targets
      .filter((target) => !targets.some((other) => other !== target && leadsTo(other, target)))
      .sort()
      .map((target) => `  ${room} --> ${target}`)
  })
  const alone = domainOrder.filter(
    (room) => !arrows.some((arrow) => arrow.split(/ +(?:--> )?/).includes(room)),
  )
  return ['flowchart TD', ...arrows, ...alone.map((room) => `  ${room}`)]
}
