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
    ...([...document.querySelectorAll('.codes li')].some((code) => code.scrollWidth > code.clientWidth) ? ['codes lie over each other'] : []),
    ...[...document.forms].flatMap(({ elements }) => {
      const names = [...elements].filter(({ type, className }) => type === 'submit' && className !== 'hidden').map((one) => one.textContent.trim())
      return names.filter((name, i) => names.indexOf(name) < i).map((name) => 'two buttons of a form are called ' + name)
    })])`)
}

/** With letters twice as large and nothing else, as browsers offer it: what is wider than the screen, and where a word is cut. */
export function examineLargeText(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const before = []
    const enlarge = (rules) => {
      for (const { cssRules, style } of rules) {
        if (cssRules) enlarge(cssRules)
        if (!style) continue
        before.push([style, style.cssText])
        style.cssText = style.cssText.replace(/(?<=^|; )(font|font-size|line-height): [^;]*/g, (part) =>
          part.replace(/([\\d.]+)px/g, (_, size) => size * 2 + 'px'))
      }
    }
    for (const { cssRules } of document.styleSheets) enlarge(cssRules)
    const isCut = (one) => one.clientHeight > 1 && (one.scrollHeight > one.clientHeight + 1 ||
      (one.localName !== 'input' && one.scrollWidth > one.clientWidth + 1))
    const cut = [...document.querySelectorAll('.mark, .avatar, .button, .find, .bar, h1, input, select')].filter(isCut)
    const found = [
      ...(document.documentElement.scrollWidth > innerWidth ? ['large text is wider than the screen'] : []),
      ...cut.map(({ outerHTML }) => 'large text is cut: ' + outerHTML.slice(0, 100))]
    for (const [style, text] of before) style.cssText = text
    return found
  })()`)
}

/** The style and the width of a line, as the browser draws it. */
export const lineOf = (page: Page, selector: string, line: 'border' | 'outline') =>
  page.evaluate<string>(
    `(({ ${line}Style: style, ${line}Width: width }) => style + ' ' + width)(getComputedStyle(document.querySelector('${selector}')))`,
  )
