/** The check that our script and style keep to what the oldest promised browsers know. */
import { expect, test } from 'bun:test'
import { checkBrowsers, findTooNew, findTooNewIn } from '../../scripts/checks/browsers.ts'

test.each([
  ['[...Map.groupBy(items, ({ country }) => country)]', 'Map.groupBy and Object.groupBy'],
  ['Key.parseCreationOptionsFromJSON(await ask(form))', 'PublicKeyCredential.parse…FromJSON'],
  ['JSON.stringify(credential.toJSON())', 'toJSON of a credential'],
  ['(await navigator.credentials.get({ publicKey })).toJSON()', 'toJSON of a credential'],
  ['const text = new URLSearchParams(values)\nreturn text.size > 0', 'size of URLSearchParams'],
  ['new URLSearchParams(values).size', 'size of URLSearchParams'],
  ['rows.values().map(draw)', 'methods of iterators'],
  [':root { --ink: light-dark(#000, #fff); }', 'light-dark()'],
  ['a::before { content: "→" / ""; }', 'content with a second text'],
  ['a {\n  &:hover { color: red; }\n}', 'rules within rules'],
])('%p is too new', (text, feature) => {
  expect(findTooNew(text)).toEqual([expect.stringContaining(feature)])
})

test.each([
  'const totals = new Map()\nif (totals.size === 0) return',
  'location.assign(`?${new URLSearchParams(given)}`)',
  '@supports (content: "" / "") {\n  a::before {\n    content: var(--arrow) / "";\n  }\n}',
  'JSON.stringify(values)',
])('%p is not', (text) => {
  expect(findTooNew(text)).toEqual([])
})

test.each([
  ['src/operations/dev/mailbox-page.ts', 'const more = `'],
  ['src/operations/dev/mailbox-page.ts', 'const script = `'],
  ['src/operations/dev/start-page.ts', 'const more = `'],
  ['src/domain/messages/rendering/preview-page.ts', 'const more = `'],
  ['src/platform/look/poterne.css', ':root {'],
  ['src/console/page/page.css', 'body {'],
  ['src/pages/frame/script.js', ''],
])('of %p is read what follows %p', async (path, place) => {
  const text = await Bun.file(path).text()
  expect(text).toContain(place)
  const planted = text.replace(place, () => `${place} color: light-dark(#000, #fff);`)
  expect(findTooNewIn(path, planted)).toEqual(['light-dark() (Safari 17.5)'])
})

test('what we ship keeps to it', async () => {
  expect(await checkBrowsers()).toEqual([])
})
