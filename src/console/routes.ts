/** The page of administration, /admin/ on its listener: static files, the same for everybody. */
import { Elysia, t } from 'elysia'
import type { LogoFile } from '../platform/config/types.ts'
import type { HttpBase } from '../platform/http/http-base.ts'
import { escapeHtml } from '../platform/http/page-answer.ts'
import { allIcons } from '../platform/look/icons.ts'
import { isMark, markSvg, PICTURE_POLICY } from '../platform/look/logo.ts'
import { styleIn } from '../platform/look/style.ts'
import { pickLanguage } from '../texts/accept-language.ts'
import { languages, nameOfLanguage, textDirection } from '../texts/languages.ts'
import { fillSentence, typographic } from '../texts/sentences.ts'
import { readPageFiles } from './page-files.ts' with { type: 'macro' }
import { wordsEn } from './words-en.ts'
import { wordsFr } from './words-fr.ts'

/** Frozen, or the build would write them into every place that reads them. */
const files = Object.freeze(readPageFiles() as unknown as Record<string, string>)
const words = { en: wordsEn, fr: wordsFr }
type PageLanguage = keyof typeof words

const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }

/** Nothing but the page's own files; no frame around it, no form that leads elsewhere, and no copy for Back. */
const headers = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
}

const isPageLanguage = (tag: string | undefined): tag is PageLanguage => tag !== undefined && tag in words

/** Returns the language of the page: `lang` of the address, else what Accept-Language asks for. */
function languageOf(asked: string | undefined, accepted: string | undefined): PageLanguage {
  if (isPageLanguage(asked)) return asked
  const picked = pickLanguage(accepted, Object.keys(words), 'en')
  return isPageLanguage(picked) ? picked : 'en'
}

/** Returns the subject of each message, by `purpose:password_changed` and the like. */
function subjectsIn(language: PageLanguage, service: string): Record<string, string> {
  const { codes, notices } = languages[language].messages
  return Object.fromEntries(
    Object.entries({ ...codes, ...notices }).map(([purpose, { subject }]) => [
      `purpose:${purpose}`,
      fillSentence(subject, { service }),
    ]),
  )
}

/** `<` is escaped, so that no word can end the element that holds them. */
const jsonIn = (content: object) => JSON.stringify(content).replaceAll('<', '\\u003c')

/** The icons, the languages by their own names, and the logo. */
const lookOf = ({ logo, darkLogo }: Brand): string =>
  jsonIn({
    icons: allIcons(),
    languages: Object.keys(words).map((tag) => [tag, nameOfLanguage(tag)]),
    logo: logo && { isMark: isMark(logo), hasDark: darkLogo !== null },
  })

function pageIn(language: PageLanguage, service: string, look: string): string {
  const sentences = Object.entries({ ...words[language], ...subjectsIn(language, service) })
  const printed = Object.fromEntries(sentences.map(([key, sentence]) => [key, typographic(sentence)]))
  const said = jsonIn({ ...printed, service })
  return (files['page.html'] as string)
    .replace('lang="en" dir="ltr"', `lang="${language}" dir="${textDirection(language)}"`)
    .replace('id="words">{}<', () => `id="words">${said}<`)
    .replace('id="look">{}<', () => `id="look">${look}<`)
}

const answer = (content: string, type: string, more = {}) =>
  new Response(content, { headers: { ...headers, 'content-type': `${type}; charset=utf-8`, ...more } })

/** As it is on the pages for people. */
export interface Brand {
  name: string
  /** `#rrggbb` */
  colour: string
  logo: LogoFile | null
  /** For dark screens. */
  darkLogo: LogoFile | null
}

/** A route for each file: a parameter in their place would take /admin/docs too. */
export function createPageRoutes(httpBase: HttpBase, brand: Brand) {
  const { name: service, colour, logo, darkLogo } = brand
  const look = lookOf(brand)
  const pages = Object.fromEntries(
    Object.keys(words).map((tag) => [tag, pageIn(tag as PageLanguage, service, look)]),
  ) as Record<PageLanguage, string>
  const icon = markSvg(escapeHtml([...service][0]?.toLocaleUpperCase() ?? ''), colour)
  const own = { ...files, 'page.css': styleIn(colour) + files['page.css'], 'favicon.svg': icon }
  const page = new Elysia({ name: 'page', prefix: '/admin' }).use(httpBase).get(
    '/',
    ({ query, headers }) => {
      const language = languageOf(query.lang, headers['accept-language'])
      return answer(pages[language], 'text/html', { 'content-language': language })
    },
    {
      query: t.Object({ lang: t.Optional(t.String()) }),
      detail: { hide: true },
    },
  )
  for (const [name, content] of Object.entries(own)) {
    const type = types[name.split('.').at(-1) ?? '']
    if (type !== undefined) page.get(`/${name}`, () => answer(content, type), { detail: { hide: true } })
  }
  for (const [name, file] of Object.entries({ logo, 'logo-dark': darkLogo })) {
    if (file === null) continue
    const own = { 'content-type': file.type, 'content-security-policy': PICTURE_POLICY }
    page.get(`/${name}`, () => new Response(file.bytes, { headers: { ...headers, ...own } }), {
      detail: { hide: true },
    })
  }
  return page
}
