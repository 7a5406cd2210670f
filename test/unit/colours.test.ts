/** The team's colour as tokens: whatever it is, words in it and on it can be read, and buttons and focus are seen. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { readFiles } from '../../scripts/checks/source-files.ts'
import {
  type BrandTokens,
  brandStyle,
  brandTokens,
  contrast,
  fromOklch,
  type Theme,
  toOklch,
} from '../../src/platform/look/colours.ts'

const grounds = { light: '#ffffff', dark: '#16191d' } as const
const pages = { light: '#f6f7f9', dark: '#0d0f12' } as const
const inks = { light: '#14171c', dark: '#eef0f3' } as const
const themes: Theme[] = ['light', 'dark']

function expectReadable({ brand, onBrand, accent, brandEdge }: BrandTokens, theme: Theme): void {
  const ground = grounds[theme]
  expect(contrast(accent, ground)).toBeGreaterThanOrEqual(theme === 'dark' ? 7 : 5)
  // WCAG 2.2: 4.5 for words.
  expect(contrast(accent, pages[theme])).toBeGreaterThanOrEqual(4.5)
  expect(contrast(brand, onBrand)).toBeGreaterThanOrEqual(4.5)
  // A fill that hardly differs from the ground has a line around it.
  for (const around of [ground, pages[theme]])
    if (contrast(brand, around) < 3) expect(contrast(brandEdge, around)).toBeGreaterThanOrEqual(3)
  expect(contrast(brand, ground)).toBeGreaterThanOrEqual(1.15)
}

describe('the tokens of a colour', () => {
  test.each([
    '#0f5f6b',
    '#ffe14d',
    '#c9f7d0',
    '#0b0b14',
    '#ff7a00',
    '#ffffff',
    '#000000',
    '#16191d',
    '#777777',
  ])('%s can be read and seen', (colour) => {
    for (const theme of themes) expectReadable(brandTokens(colour, theme), theme)
  })

  test('so can any other', () => {
    const colours = fc
      .integer({ min: 0, max: 0xffffff })
      .map((value) => `#${value.toString(16).padStart(6, '0')}`)
    fc.assert(
      fc.property(colours, fc.constantFrom(...themes), (colour, theme) => {
        expectReadable(brandTokens(colour, theme), theme)
      }),
      { numRuns: 500 },
    )
  })

  test('a field with the focus is not red with a red brand, where red is what is wrong', () => {
    for (const colour of ['#c8102e', '#b42318', '#e3342f'])
      expect(brandStyle(colour)).toContain('--focus:var(--ink)')
    for (const colour of ['#0f5f6b', '#ff7a00', '#777777', '#8e24aa'])
      expect(brandStyle(colour)).not.toContain('--focus')
  })

  test('yellow stays yellow and mint stays mint, as the fill of a button', () => {
    for (const colour of ['#ffe14d', '#c9f7d0'])
      for (const theme of themes) expect(brandTokens(colour, theme).brand).toBe(colour)
  })

  test('near black is ink on dark, and not a grey that looks as if it could not be pressed', () => {
    expect(brandTokens('#0b0b14', 'dark')).toMatchObject({ brand: inks.dark, onBrand: inks.light })
  })

  test('a link in a brand without a hue is ink: another grey would be that of the words beside it', () => {
    for (const colour of ['#0b0b14', '#777777'])
      for (const theme of themes) expect(brandTokens(colour, theme).accent).toBe(inks[theme])
  })

  test('words keep the hue', () => {
    for (const colour of ['#0f5f6b', '#ffe14d', '#ff7a00', '#c9f7d0', '#2563eb'])
      for (const theme of themes) {
        const apart = toOklch(brandTokens(colour, theme).accent).hue - toOklch(colour).hue
        expect(Math.abs(apart)).toBeLessThan(0.12)
      }
  })

  test('a colour comes back from OKLCH as it was', () => {
    for (const colour of ['#0f5f6b', '#ffe14d', '#010203', '#fefefe'])
      expect(fromOklch(toOklch(colour))).toBe(colour)
  })

  test.each(themes)('the style itself holds those of the built-in colour: %s', (theme) => {
    const { brand, accent } = brandTokens('#0f5f6b', theme)
    expect(tokensOf(theme)).toMatchObject({ brand, accent, ground: grounds[theme], page: pages[theme] })
  })

  test.each(themes)(
    'words of the style can be read, and fields and what is dangerous are seen: %s',
    (theme) => {
      const tokens = tokensOf(theme)
      const { page, ground, raised, hover } = tokens
      for (const around of [page, ground, raised, hover])
        for (const words of ['ink', 'soft', 'accent'])
          expect([words, contrast(tokens[words]!, around!) >= 4.5]).toEqual([words, true])
      for (const kind of ['bad', 'warn', 'good'])
        for (const around of [page, ground, tokens[`${kind}-ground`]])
          expect([kind, contrast(tokens[kind]!, around!) >= 4.5]).toEqual([kind, true])
      for (const kind of ['bad', 'warn', 'good'])
        expect(contrast(inks[theme], tokens[`${kind}-ground`]!)).toBeGreaterThanOrEqual(4.5)
      expect(contrast('#ffffff', tokens['bad-fill']!)).toBeGreaterThanOrEqual(4.5)
      for (const around of [page, ground])
        for (const shape of ['field', 'bad-fill', 'bad'])
          expect([shape, contrast(tokens[shape]!, around!) >= 3]).toEqual([shape, true])
    },
  )
})

/** The colours of the style by their names. What a theme leaves out is as in the light one. */
function tokensOf(theme: Theme): Record<string, string> {
  const style = readFileSync(join(import.meta.dir, '../../src/platform/look/poterne.css'), 'utf8')
  const blocks = [...style.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block!)
  const text = theme === 'light' ? blocks[0]! : blocks.join('')
  return Object.fromEntries(
    [...text.matchAll(/--([\w-]+): (#\w+);/g)].map(([, name, colour]) => [
      name,
      colour!.length === 4 ? colour!.replaceAll(/\w/g, '$&$&') : colour,
    ]),
  )
}

test.each(themes)('what is amber is no red: %s', (theme) => {
  const tokens = tokensOf(theme)
  const apart = toOklch(tokens.warn!).hue - toOklch(tokens.bad!).hue
  expect(apart).toBeGreaterThan(0.6)
})

test('one style sheet names the tokens, beside the colour of the team; mails have none', async () => {
  const files = await readFiles('src/**/*.{css,html,js,ts}')
  const naming = files.filter(({ text }) => /:root\b[^}]*--/.test(text)).map(({ path }) => path)
  expect(naming).toEqual(['src/platform/look/colours.ts', 'src/platform/look/poterne.css'])
})
