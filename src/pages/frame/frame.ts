import { createHash } from 'node:crypto'
import { serviceName } from '../../platform/config/service-name.ts'
import type { Config, LogoFile, PagesConfig } from '../../platform/config/types.ts'
import { isMark, markSvg } from '../../platform/look/logo.ts'
import { styleIn } from '../../platform/look/style.ts'
import { type Language, nameOfLanguage, textDirection } from '../../texts/languages.ts'
import { fillSentence } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import { readScript } from './assets.ts' with { type: 'macro' }
import { icon, initialsOf } from './elements.ts'
import { Html, html } from './html.ts'

const script = readScript() as unknown as string

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
  /** It cannot be shown again: so it has no language menu, which asks for it once more, and the links below it open beside it. */
  shownOnce?: boolean
}

export type Frame = ReturnType<typeof createFrame>

export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

interface FrameOptions extends Pick<PagesConfig, 'help' | 'terms' | 'privacy'> {
  name: string
  /** `#rrggbb` */
  colour: string
  logo: LogoFile | null
  /** For dark screens. */
  darkLogo: LogoFile | null
  origin: string
}

/** The frame has the team's colours, as the configuration says. */
export const frameOf = (config: Config): Frame =>
  createFrame({
    ...config.pages,
    name: config.pages.name || serviceName(config),
    colour: config.pages.colour || config.texts.colour,
    logo: config.pages.logoFile,
    darkLogo: config.pages.darkLogoFile,
    origin: new URL(config.server.baseUrl).origin,
  })

function createFrame({ name, colour, logo, darkLogo, help, terms, privacy, origin }: FrameOptions) {
  const style = styleIn(colour)
  const named = (ending: string, type: string, content: Asset['content']): Asset => {
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
    return { path: `/pages/${hash}.${ending}`, type, content }
  }
  const picture = (file: LogoFile | null) =>
    file && named(file.type === 'image/png' ? 'png' : 'svg', file.type, file.bytes)
  const styleFile = named('css', 'text/css; charset=utf-8', style)
  const scriptFile = named('js', 'text/javascript; charset=utf-8', script)
  const iconFile = named('svg', 'image/svg+xml', markSvg(html`${initialOf(name)}`.text, colour))
  const [logoFile, darkFile] = [picture(logo), picture(darkLogo)]
  const isNamed = logo !== null && isMark(logo)
  const styleHash = createHash('sha256').update(style).digest('base64')

  const link = (href: string, label: string, beside = false) =>
    href !== '' && html`<a href="${href}"${beside && html` target="_blank" rel="noopener"`}>${label}</a>`

  /** Who the page is of, with the logo or with the initial in the team's colour. */
  function brand(bare = false): Html {
    const words = html`<span>${name}</span>`
    if (logoFile === null || bare)
      return html`<span class="mark" aria-hidden="true">${initialOf(name)}</span> ${words}`
    const image = html`<img src="${logoFile.path}" alt="${isNamed ? '' : name}"${!darkFile && html` class="plate"`}>`
    const both = darkFile
      ? html`<picture><source srcset="${darkFile.path}" media="(prefers-color-scheme: dark)">${image}</picture>`
      : image
    return html`${both}${isNamed && words}`
  }

  function languageMenu({ language, languages, texts }: PageOfPeople) {
    if (languages.length < 2) return null
    return html`<details class="languages"><summary>${icon('globe')}<span><span class="hidden">${texts.pages.language}: </span>${nameOfLanguage(language)}</span></summary>
<ul>${languages.map(({ tag, href }) =>
      tag === language
        ? html`<li><span lang="${tag}" aria-current="true">${nameOfLanguage(tag)}${icon('check')}</span></li>`
        : html`<li><a href="${href}" lang="${tag}" hreflang="${tag}">${nameOfLanguage(tag)}</a></li>`,
    )}</ul></details>`
  }

  /** What browsers and those who share a link show of a page. */
  const head = (title: string, description: string) => html`<link rel="icon" href="${iconFile.path}">
${logoFile?.type === 'image/png' && html`<link rel="apple-touch-icon" href="${logoFile.path}">`}
<meta name="description" content="${description}">
<meta property="og:title" content="${title} · ${name}">
<meta property="og:description" content="${description}">
${logoFile && html`<meta property="og:image" content="${origin}${logoFile.path}">`}
<link rel="stylesheet" href="${styleFile.path}">
<script src="${scriptFile.path}" defer></script>`

  return {
    name,
    assets: [styleFile, scriptFile, iconFile, ...[logoFile, darkFile].filter((file) => file !== null)],
    /** The policy of a page: a bare one has its style in itself. */
    policy: (bare = false): string =>
      bare ? PAGE_POLICY.replace("style-src 'self'", `style-src 'sha256-${styleHash}'`) : PAGE_POLICY,
    render(page: PageOfPeople): string {
      const { language, texts, title, content, wide, bare, refreshTo, aside, shownOnce } = page
      const { pages: words } = texts
      const description = fillSentence(words.sign_in_to, { service: name })
      const rendered = html`<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#16191d" media="(prefers-color-scheme: dark)">
${refreshTo !== undefined && html`<meta http-equiv="refresh" content="0;url=${refreshTo}">`}
<title>${title} · ${name}</title>
${bare ? new Html(`<style>${style}</style>`) : head(title, description)}
</head>
<body${wide && html` class="wide"`}>
<header class="column top"><span class="brand">${brand(bare)}</span>${aside}</header>
<main class="column${!wide && ' panel'}">
${!bare && html`<div class="notice bad" id="offline" role="alert" data-text="${words.offline}" hidden></div>`}
${content}
</main>
<footer class="column bottom">${link(help, words.help, shownOnce)} ${link(terms, words.terms, shownOnce)} ${link(privacy, words.privacy, shownOnce)} ${!bare && !shownOnce && languageMenu(page)}</footer>
</body>
</html>
`
      return rendered.text
    },
  }
}

const initialOf = (name: string) => initialsOf(name).charAt(0)
