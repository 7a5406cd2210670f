/** The frame of all pages: title, brand, language and links, and the files that they load. */
import { createHash } from 'node:crypto'
import { serviceName } from '../../platform/config/service-name.ts'
import type { Config, LogoFile, PagesConfig } from '../../platform/config/types.ts'
import { type Language, textDirection } from '../../texts/languages.ts'
import type { Texts } from '../../texts/texts.ts'
import { readAssets } from './assets.ts' with { type: 'macro' }
import { DARK_GROUND, LIGHT_GROUND, shadesOn } from './colours.ts'
import { type Html, html } from './html.ts'

const assets = readAssets() as unknown as { style: string; script: string }

/** A file that every page loads, under a name that changes with its content. */
export interface Asset {
  path: string
  type: string
  content: string | Uint8Array<ArrayBuffer>
}

interface PageOfPeople {
  language: Language
  texts: Texts
  title: string
  content: Html
  /** The languages that the reader can choose, with the address of this page in each. */
  languages: { tag: Language; href: string }[]
  /** The pages of an account are wider than a form. */
  wide?: boolean
  /** It leaves out the files: where the service fails, a page must not ask it for more. */
  bare?: boolean
  /** Leads on by itself, at once. */
  refreshTo?: string
  /** It stands beside the brand: the way to sign out. */
  aside?: Html
}

export type Frame = ReturnType<typeof createFrame>

export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

interface FrameOptions extends Pick<PagesConfig, 'help' | 'terms' | 'privacy'> {
  name: string
  /** `#rrggbb` */
  colour: string
  logo: LogoFile | null
}

/** The frame has the team's colours, as the configuration says. */
export const frameOf = (config: Config): Frame =>
  createFrame({
    ...config.pages,
    name: config.pages.name || serviceName(config),
    colour: config.pages.colour || config.texts.colour,
    logo: config.pages.logoFile,
  })

function createFrame({ name, colour, logo, help, terms, privacy }: FrameOptions) {
  const light = shadesOn(LIGHT_GROUND, colour)
  const dark = shadesOn(DARK_GROUND, colour)
  const variables = ({ accent, onAccent }: typeof light) => `--accent: ${accent}; --on-accent: ${onAccent};`
  const style = `${assets.style}
:root { ${variables(light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(dark)} } }
`
  const named = (ending: string, type: string, content: Asset['content']): Asset => {
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
    return { path: `/pages/${hash}.${ending}`, type, content }
  }
  const styleFile = named('css', 'text/css; charset=utf-8', style)
  const scriptFile = named('js', 'text/javascript; charset=utf-8', assets.script)
  const logoFile = logo && named(logo.type === 'image/png' ? 'png' : 'svg', logo.type, logo.bytes)

  const link = (href: string, label: string) => href !== '' && html`<a href="${href}">${label}</a>`

  function languageMenu({ language, languages, texts }: PageOfPeople) {
    if (languages.length < 2) return null
    return html`<details class="languages"><summary><span class="hidden">${texts.pages.language}: </span>${nameOf(language)}</summary>
<ul>${languages
      .filter(({ tag }) => tag !== language)
      .map(
        ({ tag, href }) =>
          html`<li><a href="${href}" lang="${tag}" hreflang="${tag}">${nameOf(tag)}</a></li>`,
      )}</ul></details>`
  }

  return {
    name,
    assets: [styleFile, scriptFile, ...(logoFile ? [logoFile] : [])],
    render(page: PageOfPeople): string {
      const { language, texts, title, content, wide, bare, refreshTo, aside } = page
      const { pages: words } = texts
      const brand =
        logoFile && !bare
          ? html`<img src="${logoFile.path}" alt="${name}">`
          : html`${!bare && html`<span class="mark" aria-hidden="true">${initialOf(name)}</span>`} <span>${name}</span>`
      const rendered = html`<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${refreshTo !== undefined && html`<meta http-equiv="refresh" content="0;url=${refreshTo}">`}
<title>${title} · ${name}</title>
${
  !bare &&
  html`<link rel="stylesheet" href="${styleFile.path}">
<script src="${scriptFile.path}" defer></script>`
}
</head>
<body${wide && html` class="wide"`}>
<header class="column top"><span class="brand">${brand}</span>${aside}</header>
<main class="column">
${!bare && html`<div class="notice bad" id="offline" role="alert" data-text="${words.offline}" hidden></div>`}
${content}
</main>
<footer class="column bottom">${link(help, words.help)} ${link(terms, words.terms)} ${link(privacy, words.privacy)} ${!bare && languageMenu(page)}</footer>
</body>
</html>
`
      return rendered.text
    },
  }
}

/** Returns the name in the language itself: "français". */
function nameOf(tag: Language): string {
  return new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag
}

const initialOf = (name: string) => [...name.trim()][0]?.toLocaleUpperCase() ?? ''
