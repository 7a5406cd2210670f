/** What `poterne licenses` prints of the parts of the runtime. */
import { expect, test } from 'bun:test'
import { runtimeComponents, thirdPartyPage } from '../../scripts/lib/inventory.ts'

test('the whole text of a licence that has to come with a library stands below its name', () => {
  const page = thirdPartyPage(runtimeComponents())
  const below = (name: string) => page.split(/^## /m).find((part) => part.startsWith(name)) ?? ''
  for (const [name, title] of [
    ['JavaScriptCore', 'GNU LIBRARY GENERAL PUBLIC LICENSE'],
    ['TinyCC', 'GNU LESSER GENERAL PUBLIC LICENSE'],
  ] as const) {
    expect(below(name)).toContain(title)
    expect(below(name)).toContain('END OF TERMS AND CONDITIONS')
    expect(below(name).trimEnd()).toEndWith("That's all there is to it!")
  }
  expect(page).not.toContain('/usr/share/common-licenses')
})
