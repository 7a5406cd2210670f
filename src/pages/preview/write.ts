/** `poterne pages preview`: every state in every language, light and dark, as files that a browser opens without a server. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../platform/config/types.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { type Asset, type Frame, frameOf } from '../frame/frame.ts'
import { html } from '../frame/html.ts'
import type { PageState } from './page-state.ts'
import { PREVIEW_TIME, pageStates, previewOffered, viewOf } from './states.ts'

const themes = ['light', 'dark'] as const
type Theme = (typeof themes)[number]

/** Returns how many pages there are. */
export async function writePreview(config: Config, catalog: Catalog, directory: string): Promise<number> {
  const frame = frameOf(config)
  const states = pageStates(config, catalog, frame.name)
  const [style, ...others] = frame.assets as [Asset, ...Asset[]]
  mkdirSync(directory, { recursive: true })
  for (const theme of themes) {
    writeFileSync(join(directory, `${theme}.css`), inTheme(String(style.content), theme))
  }
  for (const { path, content } of others) writeFileSync(join(directory, nameOf(path)), content)
  for (const language of catalog.tags) {
    const pages = await drawStates(config, catalog, frame, states, language)
    for (const theme of themes) {
      const folder = join(directory, language, theme)
      mkdirSync(folder, { recursive: true })
      for (const [name, page] of pages) {
        const opened = [style, ...others].reduce(
          (text, asset) =>
            text.replaceAll(
              `"${asset.path}"`,
              `"../../${asset === style ? `${theme}.css` : nameOf(asset.path)}"`,
            ),
          page,
        )
        writeFileSync(
          join(folder, `${name}.html`),
          inTheme(opened.replaceAll(ACCOUNT_LINK, fileOfAccount), theme),
        )
      }
    }
  }
  writeFileSync(join(directory, 'index.html'), contents(catalog, states))
  return states.length * catalog.tags.length * themes.length
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const ACCOUNT_LINK = /href="\/(account[^"?]*)[^"]*"/g
const fileOfAccount = (_: string, path: string) => `href="${path.replaceAll('/', '-')}.html"`

/** Shows the page as a browser does whose reader has chosen this theme. */
const inTheme = (style: string, theme: Theme) =>
  style
    .replaceAll('(prefers-color-scheme: dark)', theme === 'dark' ? 'all' : 'not all')
    .replace('color-scheme:light dark', `color-scheme:${theme}`)

async function drawStates(
  config: Config,
  catalog: Catalog,
  frame: Frame,
  states: readonly PageState[],
  language: string,
): Promise<[string, string][]> {
  const texts = catalog.of(language)
  const drawing = {
    offered: previewOffered(config, frame.name),
    now: PREVIEW_TIME,
    isLate: () => false,
    to: (path: string) => `${leadsTo(path)}.html`,
  }
  return Promise.all(
    states.map(async (state): Promise<[string, string]> => {
      const view = viewOf(state, texts, language)
      const screen = await state.draw(view, drawing)
      const page = frame.render({
        ...screen,
        title: view.flow.problem ? `${texts.pages.error}: ${screen.title}` : screen.title,
        bare: state.bare ?? false,
        language,
        texts,
        languages: catalog.tags.map((tag) => ({ tag, href: `../../${tag}/light/${state.name}.html` })),
      })
      return [state.name, page]
    }),
  )
}

/** The page to which a form or link of the preview leads, so that one can walk. */
function leadsTo(path: string): string {
  const known: Record<string, string> = {
    '/sign-in': 'second-factor-app',
    '/sign-in/code': 'code',
    '/sign-in/forgot': 'recover',
    '/sign-in/register': 'sign-up',
    '/sign-up': 'confirm',
    '/recover': 'choose-password',
    '/recover/code': 'choose-password-elsewhere',
    '/code/again': 'code-again',
  }
  return known[path] ?? (path.endsWith('/sign-in') ? 'sign-in' : 'leave')
}

const contents = (catalog: Catalog, states: readonly PageState[]) =>
  html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Preview of the pages</title>
<h1>Preview of the pages</h1>
${states.map(
  ({ name }) =>
    html`<h2>${name}</h2><p>${catalog.tags.flatMap((tag) =>
      themes.map((theme) => html`<a href="${tag}/${theme}/${name}.html">${tag}, ${theme}</a> `),
    )}</p>\n`,
)}</html>
`.text
