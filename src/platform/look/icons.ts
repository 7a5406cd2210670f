/** The icons and the marks of providers, as HTML that stands in a page. They have no words: what they stand beside has. */

/** Drawn on a grid of 24 by lines of 1.6. */
const drawings = {
  alert: '<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5M12 16.3v.1"/>',
  back: '<path d="M15 5.5 8.5 12l6.5 6.5"/>',
  bars: '<path d="M5 20V11M12 20V4M19 20v-6"/>',
  bin: '<path d="M4 7h16M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13"/>',
  check: '<path d="m5 12.5 4.5 4.5L19 7.5"/>',
  chevron: '<path d="m9 5.5 6.5 6.5L9 18.5"/>',
  clock: '<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3.5 2"/>',
  copy: '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>',
  download: '<path d="M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 20h14"/>',
  enter: '<path d="M14 4h4a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-4M4 12h10m-4-4 4 4-4 4"/>',
  eye: '<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z"/><circle cx="12" cy="12" r="2.8"/>',
  globe: '<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18"/>',
  info: '<circle cx="12" cy="12" r="9"/><path d="M12 11v5.5M12 7.7v.1"/>',
  key: '<circle cx="8" cy="15" r="4.5"/><path d="m11.3 11.7 8-8M16 7l3 3"/>',
  laptop: '<rect x="5" y="5" width="14" height="10" rx="2"/><path d="M3 19h18"/>',
  leave: '<path d="M10 4.5H5.5v15H10M15 8l4 4-4 4M19 12H9.5"/>',
  link: '<path d="M10 14a4 4 0 0 0 6 .4l3-3a4.2 4.2 0 0 0-6-6l-1.2 1.2M14 10a4 4 0 0 0-6-.4l-3 3a4.2 4.2 0 0 0 6 6l1.2-1.2"/>',
  lock: '<rect x="5" y="11" width="14" height="9.5" rx="2.2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>',
  mail: '<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m4 7.5 8 6 8-6"/>',
  passkey:
    '<circle cx="9" cy="7.5" r="3.8"/><path d="M2.5 20a6.7 6.7 0 0 1 10.3-5.6"/><circle cx="18" cy="10.5" r="2.7"/><path d="M18 13.2V21h2.6M18 17.5h2"/>',
  person: '<circle cx="12" cy="8" r="4"/><path d="M4.5 20.5a7.5 7.5 0 0 1 15 0"/>',
  phone: '<rect x="7" y="2.5" width="10" height="19" rx="2.5"/><path d="M11 18h2"/>',
  plus: '<path d="M12 5v14M5 12h14"/>',
  print: '<path d="M7 9V4h10v5M7 17H4.5V9.5h15V17H17M7.5 14h9v6h-9z"/>',
  search: '<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/>',
  shield: '<path d="M12 3 5 5.7v5.6c0 4.6 3 7.7 7 9.7 4-2 7-5.1 7-9.7V5.7z"/>',
  unlock: '<rect x="5" y="11" width="14" height="9.5" rx="2.2"/><path d="M8 11V8a4 4 0 0 1 7.6-1.8"/>',
} as const

export type IconName = keyof typeof drawings

export const iconSvg = (name: IconName, more = ''): string =>
  `<svg class="icon${more && ` ${more}`}" viewBox="0 0 24 24" aria-hidden="true">${drawings[name]}</svg>`

/** As the providers ask for. */
const marks: Record<string, string> = {
  google:
    '<path fill="#4285F4" d="M22.56 12.25c0-.78-.07-1.53-.2-2.25H12v4.26h5.92a5.06 5.06 0 0 1-2.2 3.32v2.77h3.57c2.08-1.92 3.28-4.74 3.28-8.1z"/><path fill="#34A853" d="M12 23c2.97 0 5.46-.98 7.28-2.66l-3.57-2.77c-.98.66-2.23 1.06-3.71 1.06-2.86 0-5.29-1.93-6.16-4.53H2.18v2.84A11 11 0 0 0 12 23z"/><path fill="#FBBC05" d="M5.84 14.1a6.6 6.6 0 0 1 0-4.2V7.07H2.18a11 11 0 0 0 0 9.87l3.66-2.84z"/><path fill="#EA4335" d="M12 5.38c1.62 0 3.06.56 4.21 1.64l3.15-3.15C17.45 2.09 14.97 1 12 1A11 11 0 0 0 2.18 7.07l3.66 2.84C6.71 7.31 9.14 5.38 12 5.38z"/>',
  apple:
    '<path d="M12.152 6.896c-.948 0-2.415-1.078-3.96-1.04-2.04.027-3.91 1.183-4.961 3.014-2.117 3.675-.546 9.103 1.519 12.09 1.013 1.454 2.208 3.09 3.792 3.039 1.52-.065 2.09-.987 3.935-.987 1.831 0 2.35.987 3.96.948 1.637-.026 2.676-1.48 3.676-2.948 1.156-1.688 1.636-3.325 1.662-3.415-.039-.013-3.182-1.221-3.22-4.857-.026-3.04 2.48-4.494 2.597-4.559-1.429-2.09-3.623-2.324-4.39-2.376-2-.156-3.675 1.09-4.61 1.09zM15.53 3.83c.843-1.012 1.4-2.427 1.245-3.83-1.207.052-2.662.805-3.532 1.818-.78.896-1.454 2.338-1.273 3.714 1.338.104 2.715-.688 3.559-1.701"/>',
  microsoft:
    '<path fill="#F25022" d="M2 2h9.5v9.5H2z"/><path fill="#7FBA00" d="M12.5 2H22v9.5h-9.5z"/><path fill="#00A4EF" d="M2 12.5h9.5V22H2z"/><path fill="#FFB900" d="M12.5 12.5H22V22h-9.5z"/>',
  github:
    '<path d="M12 1.3a10.9 10.9 0 0 0-3.45 21.2c.55.1.75-.23.75-.52v-2c-3.05.66-3.7-1.3-3.7-1.3-.5-1.27-1.22-1.6-1.22-1.6-1-.68.08-.67.08-.67 1.1.08 1.68 1.13 1.68 1.13.98 1.68 2.57 1.2 3.2.91.1-.7.38-1.19.7-1.46-2.44-.28-5-1.22-5-5.43 0-1.2.43-2.18 1.13-2.95-.11-.28-.49-1.4.11-2.91 0 0 .92-.3 3.02 1.12a10.4 10.4 0 0 1 5.5 0c2.1-1.42 3.02-1.12 3.02-1.12.6 1.51.22 2.63.11 2.91.7.77 1.13 1.75 1.13 2.95 0 4.22-2.57 5.15-5.02 5.42.4.34.75 1.01.75 2.04v3.03c0 .29.2.63.76.52A10.9 10.9 0 0 0 12 1.3z"/>',
  facebook:
    '<path fill="#0866FF" d="M23 12a11 11 0 1 0-13.66 10.68v-7.3H7.07V12h2.27v-1.45c0-3.75 1.7-5.48 5.38-5.48.7 0 1.9.13 2.4.27v3.05a14 14 0 0 0-1.28-.04c-1.8 0-2.5.68-2.5 2.46V12h3.6l-.62 3.38h-2.98v7.54A11 11 0 0 0 23 12z"/>',
}

/** The mark of a provider, or the initial of its name. `name` is the one of the configuration. */
export function providerMark(name: string, initial: string): string {
  const mark = marks[name]
  return mark === undefined
    ? `<span class="logo initial" aria-hidden="true">${initial}</span>`
    : `<svg class="logo" viewBox="0 0 24 24" aria-hidden="true">${mark}</svg>`
}

/** All icons, for a page that draws itself. */
export const allIcons = (): Record<string, string> =>
  Object.fromEntries(Object.keys(drawings).map((name) => [name, iconSvg(name as IconName)]))
