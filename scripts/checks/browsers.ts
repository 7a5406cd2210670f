/**
 * The oldest browsers that docs/pages.md promises know what our script and style use. The linter examines the files of
 * styles (`useBaseline` of biome.json); here is a list of what is younger than Safari 16.4 and easily reached for.
 */
import { type Check, readFiles } from './source-files.ts'

/** Each with the first Safari that has it. */
const tooNew: [feature: string, safari: string, found: RegExp][] = [
  ['Map.groupBy and Object.groupBy', '17.4', /\b(?:Map|Object)\.groupBy\b/],
  ['Promise.withResolvers and Promise.try', '17.4', /\bPromise\.(?:withResolvers|try)\b/],
  ['PublicKeyCredential.parse…FromJSON', '18.4', /\bparse(?:Creation|Request)OptionsFromJSON\b/],
  ['toJSON of a credential', '18.4', /\b(?:credential|credentials\.(?:get|create)\([^;]*\))\)?\.toJSON\(/],
  ['size of URLSearchParams', '17', /(?:\b(\w+) = )?new URLSearchParams\([\s\S]*?(?:\)|\b\1)\.size\b/],
  ['URL.canParse and URL.parse', '18', /\bURL\.(?:canParse|parse)\(/],
  ['base64 and hexadecimal of bytes', '18.2', /\b(?:from|to)(?:Base64|Hex)\(/],
  ['AbortSignal.any', '17.4', /\bAbortSignal\.any\b/],
  ['methods of iterators', '18.4', /\.(?:keys|values|entries)\(\)\s*\.(?!next\b)/],
  ['algebra of sets', '17', /\.(?:union|intersection|difference|isSubsetOf|isSupersetOf)\(/],
  ['RegExp.escape', '18.2', /\bRegExp\.escape\b/],
  ['imports with attributes', '17.2', /\bimport\b[^\n]*\bwith \{/],
  ['using', 'none', /\busing \w+ =/],
  ['requestIdleCallback', 'none', /\brequestIdleCallback\b/],
  ['transitions of views', '18', /\bstartViewTransition\b|@view-transition/],
  ['checkVisibility', '17.4', /\bcheckVisibility\b/],
  ['popovers', '17', /\b(?:show|hide|toggle)Popover\b|\bpopover(?:target)?[=:]/],
  ['commands of buttons', '26', /\bcommandfor\b|\bclosedby\b/],
  ['light-dark()', '17.5', /\blight-dark\(/],
  ['content with a second text', '17.4', /\bcontent: [^;/]*\/ *"/],
  ['text-wrap', '17.4', /\btext-wrap:/],
  ['@starting-style and transition-behavior', '17.5', /@starting-style|\btransition-behavior\b/],
  ['@scope', '17.4', /@scope\b/],
  ['rules within rules', '16.5', /^\s*&/m],
  ['colours made of another', '18', /\b(?:rgb|hsl|oklch|color)\(from\b/],
  ['field-sizing and interpolate-size', '26', /\bfield-sizing:|\binterpolate-size:/],
  ['anchors', '26', /\banchor-name:|\bposition-anchor:|\banchor\(/],
]

/** Style that a browser skips where it does not know it. */
const asked = /@supports [^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g

/** Returns the features of a text that are too new. */
export function findTooNew(text: string): string[] {
  const asking = text.replaceAll(asked, '')
  return tooNew
    .filter(([, , found]) => found.test(asking))
    .map(([feature, safari]) => `${feature} (${safari === 'none' ? 'no Safari' : `Safari ${safari}`})`)
}

/** A file of TypeScript with a page in it has the page's style and script in templates; nothing else of it goes to a browser. */
const inPages = (text: string): string =>
  /<style>|<script>/.test(text)
    ? [...text.matchAll(/^const \w+ = `([^`]*)`/gm)].map(([, part]) => part).join('\n')
    : ''

/** The same of one file, of which only what a browser gets is read. */
export const findTooNewIn = (path: string, text: string): string[] =>
  findTooNew(path.endsWith('.ts') ? inPages(text) : text)

export const checkBrowsers: Check = async () =>
  (await readFiles('src/**/*.{js,css,html,ts}')).flatMap(({ path, text }) =>
    findTooNewIn(path, text).map(
      (feature) => `${path}: ${feature} is newer than the oldest browsers of docs/pages.md`,
    ),
  )
