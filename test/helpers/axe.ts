/** axe-core on a page of Chromium: WCAG 2.2 A and AA and the good practice, nothing wider than the screen, and no code wider than its column. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

export const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The rules of what differs from one view of a page to another. The others read the document, which does not. */
export const rulesOfViews = ['color-contrast', 'target-size']
const axe = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** Puts axe into the page that is open. A content security policy must let it in (`bypassCSP`). */
export async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe)
}

/** `rules`: groups or single ones. Each finding is a rule with the elements that break it. */
export function examine(
  page: Page,
  rules: readonly string[] = [...wcag, 'best-practice'],
): Promise<string[]> {
  return page.evaluate(`axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then((found) => [
    ...found.violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')),
    ...(document.documentElement.scrollWidth > innerWidth ? ['it is wider than the screen'] : []),
    ...([...document.querySelectorAll('.codes li')].some((code) => code.scrollWidth > code.clientWidth) ? ['codes lie over each other'] : [])])`)
}
