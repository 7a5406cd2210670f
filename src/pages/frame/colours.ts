/** The team's colour on the two grounds of the pages, so that text in it and on it can be read (WCAG 2.2, 1.4.3). */

type Rgb = [number, number, number]

const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
export const LIGHT_GROUND: Rgb = [255, 255, 255]
export const DARK_GROUND: Rgb = [24, 26, 30]

/** A little above the 4.5 that small text needs. */
const CONTRAST = 4.6

const read = (colour: string): Rgb => {
  const value = Number.parseInt(colour.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

const write = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns a number from 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  from.map((part, index) => part + ((to[index] as number) - part) * share) as Rgb

/** The colour, made darker or lighter only as far as it has to be, for buttons and links, and the text on a button. */
export function shadesOn(ground: Rgb, colour: string) {
  const away = luminance(ground) > 0.5 ? BLACK : WHITE
  const given = read(colour)
  let accent = given
  for (let share = 0; contrast(accent, ground) < CONTRAST && share < 1; share += 0.02) {
    accent = mix(given, away, share)
  }
  const onAccent = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK
  return { accent: write(accent), onAccent: write(onAccent) }
}
