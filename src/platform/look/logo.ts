/** The team's own picture at the head of the pages and of the bar of administration. */
import type { LogoFile } from '../config/types.ts'
import { brandTokens } from './colours.ts'

/** A logo that is wider than that says the name itself. */
const MARK = 1.5

/** Tells whether the name stands beside this logo. */
export const isMark = (logo: LogoFile): boolean => (proportionsOf(logo) ?? Number.POSITIVE_INFINITY) <= MARK

/** A picture must not bring script: an SVG that is opened by itself runs nothing and loads nothing. */
export const PICTURE_POLICY = "default-src 'none'; sandbox"

/** Returns width by height, which says whether a logo is a mark or has the name in it; null where the file does not say. */
function proportionsOf({ type, bytes }: LogoFile): number | null {
  if (type === 'image/png') {
    // The first part of every PNG, after a signature of 8 bytes: length, name, width, height.
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return bytes.byteLength < 24 ? null : divide(view.getUint32(16), view.getUint32(20))
  }
  const [tag = ''] = /<svg\b[^>]*>/i.exec(new TextDecoder().decode(bytes)) ?? []
  const [, box] = /\bviewBox\s*=\s*["']([^"']*)["']/i.exec(tag) ?? []
  const [, , width, height] = (box ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  const length = (name: string) =>
    Number.parseFloat(new RegExp(`\\s${name}\\s*=\\s*["']([\\d.]+)`, 'i').exec(tag)?.[1] ?? '')
  return divide(width, height) ?? divide(length('width'), length('height'))
}

function divide(width: number | undefined, height: number | undefined): number | null {
  return width && height && width > 0 && height > 0 ? width / height : null
}

/**
 * The icon of the site: the initial in the team's colour, as at the head of its pages. It is seen on light and on dark.
 * `initial`: escaped as HTML. `colour`: `#rrggbb`.
 */
export function markSvg(initial: string, colour: string): string {
  const { brand, onBrand } = brandTokens(colour, 'light')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="${brand}"/><text x="16" y="22" text-anchor="middle" font-family="system-ui, sans-serif" font-size="17" font-weight="600" fill="${onBrand}">${initial}</text></svg>`
}
