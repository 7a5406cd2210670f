/**
 * The team's colour as tokens of the style. `--brand` fills buttons and the mark as it was given. `--accent` is for words,
 * links and focus: it keeps the hue, in OKLCH, and is made darker or lighter until it can be read. `--brand-edge` draws a line
 * where the fill would not stand out from the ground.
 */

type Triple = [number, number, number]

/** The grounds and inks of `poterne.css`. */
const grounds = {
  light: { ground: '#ffffff', ink: '#14171c' },
  dark: { ground: '#16191d', ink: '#eef0f3' },
} as const

export type Theme = keyof typeof grounds

/** WCAG 2.2, 1.4.3 and 1.4.11: 4.5 for words and 3 for what is not text. Words get more, since links are often small. */
const WORDS = { light: 5, dark: 7 } as const
const WORDS_ON_FILL = 4.5
const SHAPES = 3
/** Of a line, from the ground: still 3 from the page around it, which is a little darker. */
const EDGES = 3.25
const [WHITE, BLACK] = ['#ffffff', '#000000']
/** Below that, a colour is that of the ground, and a button in it would not be seen. */
const DIFFERS = 1.15
/** `--bad` of `poterne.css`, and how many radians of hue are no other colour. */
const WRONG = '#b42318'
const NEAR = 0.35
/** A grey: it has no hue that could be kept. */
const GREY = 0.04
/** The lightness of a dark brand on a dark ground. */
const LIFTED = 0.68
const MOST_LIFTED = 1.6

const toLinear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
const fromLinear = (part: number) => (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055)

const read = (colour: string): Triple =>
  [1, 3, 5].map((at) => toLinear(Number.parseInt(colour.slice(at, at + 2), 16) / 255)) as Triple

const write = (linear: Triple): string =>
  `#${linear
    .map((part) => Math.round(255 * fromLinear(Math.min(1, Math.max(0, part)))))
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`

const times = (matrix: readonly Triple[], [x, y, z]: Triple): Triple =>
  matrix.map(([a, b, c]) => a * x + b * y + c * z) as Triple

// https://bottosson.github.io/posts/oklab/
const RGB_TO_LMS: Triple[] = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
]
const LMS_TO_LAB: Triple[] = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
]
const LAB_TO_LMS: Triple[] = [
  [1, 0.3963377774, 0.2158037573],
  [1, -0.1055613458, -0.0638541728],
  [1, -0.0894841775, -1.291485548],
]
const LMS_TO_RGB: Triple[] = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
]

interface Oklch {
  lightness: number
  chroma: number
  hue: number
}

export function toOklch(colour: string): Oklch {
  const [lightness, a, b] = times(LMS_TO_LAB, times(RGB_TO_LMS, read(colour)).map(Math.cbrt) as Triple)
  return { lightness, chroma: Math.hypot(a, b), hue: Math.atan2(b, a) }
}

/** A colour that no screen shows loses chroma, and keeps lightness and hue. */
export function fromOklch({ lightness, chroma, hue }: Oklch): string {
  const linear = (amount: number): Triple => {
    const lab: Triple = [lightness, amount * Math.cos(hue), amount * Math.sin(hue)]
    return times(LMS_TO_RGB, times(LAB_TO_LMS, lab).map((part) => part ** 3) as Triple)
  }
  let amount = chroma
  while (amount > 0 && linear(amount).some((part) => part < -0.001 || part > 1.001)) amount -= 0.004
  return write(linear(Math.max(0, amount)))
}

const luminance = (colour: string): number => {
  const [red, green, blue] = read(colour)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns a number from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Light colours look pale with the chroma of dark ones. A grey stays one. */
function lift({ lightness, chroma, hue }: Oklch, to: number): string {
  const share = chroma < GREY ? 1 : Math.min(MOST_LIFTED, Math.max(1, to / lightness))
  return fromOklch({ lightness: to, chroma: chroma * share, hue })
}

/** The same hue, so far from the ground: `WORDS` can be read, `EDGES` can be seen. */
function apart(colour: string, theme: Theme, least: number): string {
  const given = toOklch(colour)
  const step = theme === 'dark' ? 0.01 : -0.01
  let found = colour
  for (let to = given.lightness; contrast(found, grounds[theme].ground) < least; to += step)
    found = lift(given, to)
  return found
}

/** The fill stays as it was given, unless nobody would see it: a dark one on dark, one like the ground on light. */
function fillOn(theme: Theme, colour: string): string {
  const { ground, ink } = grounds[theme]
  if (theme === 'light') return contrast(colour, ground) < DIFFERS ? ink : colour
  if (contrast(colour, ground) >= SHAPES) return colour
  const given = toOklch(colour)
  return given.chroma < GREY ? ink : lift(given, LIFTED)
}

export interface BrandTokens {
  brand: string
  onBrand: string
  accent: string
  brandEdge: string
}

export function brandTokens(colour: string, theme: Theme): BrandTokens {
  const { ground, ink } = grounds[theme]
  const brand = fillOn(theme, colour)
  return {
    brand,
    // White is what people expect in a button. On some colours between, neither it nor the ink can be read.
    onBrand: [WHITE, grounds.light.ink].find((words) => contrast(brand, words) >= WORDS_ON_FILL) ?? BLACK,
    // A link in some other grey would not differ from the words beside it.
    accent: toOklch(colour).chroma < GREY ? ink : apart(colour, theme, WORDS[theme]),
    brandEdge: contrast(brand, ground) < EDGES ? apart(brand, theme, EDGES) : 'transparent',
  }
}

/** A field with the focus in such a colour would look like a wrong one. */
const isLikeWrong = (colour: string): boolean => {
  const { hue, chroma } = toOklch(colour)
  return chroma >= GREY && Math.abs(hue - toOklch(WRONG).hue) < NEAR
}

/** The tokens as a style that follows `poterne.css`. */
export function brandStyle(colour: string): string {
  const block = (theme: Theme) => {
    const { brand, onBrand, accent, brandEdge } = brandTokens(colour, theme)
    return `:root{--brand:${brand};--on-brand:${onBrand};--accent:${accent};--brand-edge:${brandEdge}}`
  }
  const focus = isLikeWrong(colour) ? ':root{--focus:var(--ink)}' : ''
  return `${block('light')}@media (prefers-color-scheme: dark){${block('dark')}}${focus}`
}
