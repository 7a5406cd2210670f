/** axe-core on a page of Chromium: WCAG 2.2 A and AA and the good practice, and nothing wider than the screen. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const axe = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** Puts axe into the page that is open. A content security policy must let it in (`bypassCSP`). */
export const loadAxe = (page: Page) => page.evaluate(axe)

/** `rules`: names of single rules; without them all. Each finding is a rule with the elements that break it. */
export function examine(page: Page, rules?: readonly string[]): Promise<string[]> {
  const runOnly = rules ? { type: 'rule', values: rules } : RULES
  return page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then((found) => [
    ...found.violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')),
    ...(document.documentElement.scrollWidth > innerWidth ? ['it is wider than the screen'] : [])])`)
}
