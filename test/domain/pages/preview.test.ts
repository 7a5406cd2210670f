/** The rules for every state of every page: labels, autocomplete, names of accounts beside new passwords. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writePreview } from '../../../src/domain/pages/preview/write.ts'
import { loadConfig } from '../../../src/platform/config/load.ts'
import { createCatalog } from '../../../src/texts/catalog.ts'

interface Field {
  name: string
  type: string
  id: string
  autocomplete: string | null
  described: string[]
  inputmode: string | null
}

interface Read {
  ids: string[]
  labels: string[]
  forms: { fields: Field[]; buttons: number }[]
  loads: string[]
  /** The names of fields: those that the browser focuses, and those that are wrong. */
  focused: string[]
  wrong: string[]
}

async function read(html: string): Promise<Read> {
  const page: Read = { ids: [], labels: [], forms: [], loads: [], focused: [], wrong: [] }
  await new HTMLRewriter()
    .on('[id]', { element: (each) => void page.ids.push(each.getAttribute('id')!) })
    .on('label', { element: (label) => void page.labels.push(label.getAttribute('for') ?? '') })
    .on('form', { element: () => void page.forms.push({ fields: [], buttons: 0 }) })
    .on('form button', { element: () => void page.forms.at(-1)!.buttons++ })
    .on('form input', {
      element: (input) =>
        void page.forms.at(-1)!.fields.push({
          name: input.getAttribute('name') ?? '',
          type: input.getAttribute('type') ?? 'text',
          id: input.getAttribute('id') ?? '',
          autocomplete: input.getAttribute('autocomplete'),
          described: (input.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean),
          inputmode: input.getAttribute('inputmode'),
        }),
    })
    .on('[autofocus]', { element: (each) => void page.focused.push(each.getAttribute('name')!) })
    .on('[aria-invalid]', { element: (each) => void page.wrong.push(each.getAttribute('name')!) })
    .on('link[rel=stylesheet], script, img, iframe', {
      element: (each) =>
        void page.loads.push(each.getAttribute('src') ?? each.getAttribute('href') ?? 'inline'),
    })
    .on('[style], style, [onclick], [onsubmit]', { element: () => void page.loads.push('inline') })
    .transform(new Response(html))
    .text()
  return page
}

const directory = mkdtempSync(join(tmpdir(), 'poterne-preview-'))
const loaded = loadConfig({ env: {}, directory, mustDeliver: false })
if (!loaded.ok) throw new Error('the defaults are valid')
const catalog = createCatalog({ language: 'en' })
const count = await writePreview(loaded.config, catalog, directory)
const pages = new Map<string, Read>()
for (const name of readdirSync(join(directory, 'en/light'))) {
  pages.set(name, await read(await Bun.file(join(directory, 'en/light', name)).text()))
}
const index = await Bun.file(join(directory, 'index.html')).text()
rmSync(directory, { recursive: true })

test('every state is there in every language and theme, and the index leads to it', () => {
  expect(count).toBe(pages.size * catalog.tags.length * 2)
  expect(index.match(/<a href/g)).toHaveLength(count)
})

test.each([...pages])('%s', (_, page) => {
  expect(new Set(page.ids).size).toBe(page.ids.length)
  expect(page.loads).not.toContain('inline')
  // The first field that is wrong has the focus, otherwise one at most.
  if (page.wrong.length > 0) expect(page.focused).toEqual(page.wrong)
  else expect(page.focused.length).toBeLessThanOrEqual(1)
  for (const { fields, buttons } of page.forms) {
    expect(buttons).toBeGreaterThan(0)
    const typed = fields.filter(({ type }) => !['hidden', 'checkbox'].includes(type))
    for (const field of typed) {
      expect(field.autocomplete).toBeTruthy()
      expect(page.ids).toEqual(expect.arrayContaining(field.described))
      // The hidden name of the account is for password managers alone.
      if (field.name !== 'username') expect(page.labels).toContain(field.id)
    }
    const autocompletes = typed.map(({ autocomplete }) => autocomplete?.split(' ')[0])
    if (autocompletes.includes('new-password')) expect(autocompletes).toContain('username')
    if (autocompletes.includes('current-password')) expect(autocompletes).toContain('username')
    for (const field of typed.filter(({ name }) => name === 'otp')) {
      expect([field.autocomplete, field.inputmode]).toEqual(['one-time-code', 'numeric'])
    }
  }
})

test('a failure of the service loads nothing else', () => {
  expect(pages.get('unavailable.html')?.loads).toEqual([])
})
