/**
 * Every relative link in a document leads to an existing file and, if it names a heading, to an existing heading. The
 * tests that docs/security.md names exist.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Check, readFiles, root } from './source-files.ts'

const namedTest = /`((?:attacks|contract|domain|executable|faults|platform|random|unit)\/[\w-]+)`/g

const link = /\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g

export const checkLinks: Check = async () => {
  const pages = (await Promise.all(['*.md', 'docs/**/*.md', 'test/*.md'].map(readFiles))).flat()
  const anchors = new Map(pages.map(({ path, text }) => [path, headingAnchors(text)]))
  const broken = pages.flatMap(({ path, text }) =>
    [...text.matchAll(link)].flatMap(([, file = '', anchor]) => {
      const target = file === '' ? path : join(dirname(path), file)
      if (!existsSync(join(root, target))) return [`${path}: ${file} is not there`]
      if (anchor === undefined || anchors.get(target)?.has(anchor) !== false) return []
      return [`${path}: ${target} has no heading #${anchor}`]
    }),
  )
  const security = pages.find(({ path }) => path === 'docs/security.md')
  const tests = [...(security?.text.matchAll(namedTest) ?? [])].map(([, name]) => `test/${name}.test.ts`)
  const absent = tests.filter((file) => !existsSync(join(root, file)))
  return [...broken, ...absent.map((file) => `docs/security.md: ${file} is not there`)]
}

/** The anchors that GitHub makes for headings. */
function headingAnchors(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading as string)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
