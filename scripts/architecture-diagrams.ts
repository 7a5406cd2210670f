/** The diagrams of docs/architecture.md, drawn from the layers that check-layers.ts holds and from the imports. */
import { domainFolders, floors, folders, roomImports, type SourceFile } from './check-layers.ts'

/** Returns the page with all diagrams drawn anew between their marks: the floors, the folders, the rooms of each folder. */
export function drawDiagrams(page: string, files: SourceFile[]): string {
  const imports = roomImports(files)
  const diagrams: Record<string, string[]> = {
    floors: drawFloors(),
    folders: drawArrows(Object.keys(domainFolders), folderImports(imports)),
  }
  for (const [folder, rooms] of Object.entries(folders)) {
    diagrams[folder] = drawArrows(rooms, importsInside(folder, imports))
  }
  return Object.entries(diagrams).reduce(
    (text, [name, lines]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}\`\`\`mermaid\n${lines.join('\n')}\n\`\`\`\n${end}`,
      ),
    page,
  )
}

/** The rooms that the tables of the page describe as `folder/room`, in the order of the page. */
export function describedRooms(page: string): string[] {
  return [...page.matchAll(/^\| \[`[a-z-]+`\]\(\.\.\/src\/(?:domain\/)?([a-z-]+\/[a-z-]+)\)/gm)].map(
    ([, room]) => room as string,
  )
}

/** Finds the folders that each folder needs. */
function folderImports(imports: Map<string, Set<string>>): Map<string, Set<string>> {
  const needed = new Map(Object.keys(domainFolders).map((folder) => [folder, new Set<string>()]))
  for (const [room, targets] of imports) {
    for (const target of targets) {
      if (needed.has(folderOf(target)) && folderOf(target) !== folderOf(room))
        needed.get(folderOf(room))?.add(folderOf(target))
    }
  }
  return needed
}

/** The arrows between the rooms of one folder, by the names of the rooms alone. */
function importsInside(folder: string, imports: Map<string, Set<string>>): Map<string, Set<string>> {
  const inside = [...imports].filter(([room]) => folderOf(room) === folder)
  return new Map(
    inside.map(([room, targets]) => [
      nameOf(room),
      new Set([...targets].filter((target) => folderOf(target) === folder).map(nameOf)),
    ]),
  )
}

const folderOf = (room: string) => room.split('/')[0] as string
const nameOf = (room: string) => room.split('/')[1] as string

function drawFloors(): string[] {
  const names = floors.map((beside) => beside.join(' & '))
  return ['flowchart LR', `  ${names.reverse().join(' --> ')}`]
}

/** Leaves out an arrow if a longer chain of arrows leads to the same name. The names come lowest first. */
function drawArrows(names: string[], imports: Map<string, Set<string>>): string[] {
  const leadsTo = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((name) => name === to || leadsTo(name, to))
  const arrows = [...names].reverse().flatMap((name) => {
    const targets = [...(imports.get(name) ?? [])]
    return targets
      .filter((target) => !targets.some((other) => other !== target && leadsTo(other, target)))
      .sort()
      .map((target) => `  ${name} --> ${target}`)
  })
  const alone = names.filter((name) => !arrows.some((arrow) => arrow.split(/ +(?:--> )?/).includes(name)))
  return ['flowchart TD', ...arrows, ...alone.map((name) => `  ${name}`)]
}
