/** Reads the pictures that [pages] names. They are shown to strangers, so they must be small and run nothing. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Report } from './report.ts'
import { describeFileError } from './sources.ts'
import type { LogoFile } from './types.ts'
import type { SchemaValues } from './values.ts'

const MAXIMUM_BYTES = 100_000
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
/** Script, handlers, other documents and addresses: what a picture has no use for. A namespace may have any prefix. */
const ACTIVE = /<([\w.-]+:)?(script|foreignobject|iframe|object|embed)\b|<!entity|javascript:|\son\w+\s*=/i

/** Reads both pictures. Paths are relative to `directory`. */
export const readLogos = ({ pages }: Pick<SchemaValues, 'pages'>, directory: string, report: Report) => ({
  logoFile: readLogo('logo', pages?.logo, directory, report),
  darkLogoFile: readLogo('logo_dark', pages?.logoDark, directory, report),
})

export type Logos = ReturnType<typeof readLogos>

/** It returns null where none is named, or where it is wrong, which is reported. */
function readLogo(
  key: 'logo' | 'logo_dark',
  named: string | undefined,
  directory: string,
  report: Report,
): LogoFile | null {
  if (!named || report.isWrong(`pages.${key}`)) return null
  const path = resolve(directory, named)
  const wrong = (message: string) => {
    report.add(`pages.${key}`, message, `"${path}"`)
    return null
  }
  try {
    const stat = statSync(path)
    if (!stat.isFile()) return wrong('expected a file')
    if (stat.size > MAXIMUM_BYTES) return wrong('expected at most 100 kB')
    const bytes = new Uint8Array(readFileSync(path))
    if (PNG.equals(bytes.subarray(0, PNG.length))) return { type: 'image/png', bytes }
    const text = new TextDecoder().decode(bytes)
    if (!/<svg[\s>]/i.test(text)) return wrong('expected a picture in SVG or PNG')
    if (ACTIVE.test(withoutReferences(text))) return wrong('the SVG holds script, which a logo must not')
    return { type: 'image/svg+xml', bytes }
  } catch (error) {
    return wrong(describeFileError(error))
  }
}

/** `&#106;avascript:` is the same to a browser as what it stands for. */
const withoutReferences = (text: string) =>
  text.replace(/&#(x[\da-f]{1,6}|\d{1,7});?/gi, (whole, digits: string) => {
    const point = Number(digits.startsWith('x') || digits.startsWith('X') ? `0${digits}` : digits)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
