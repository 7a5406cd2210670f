/** The style in the team's colour. */
import { brandStyle } from './colours.ts'
import { readStyle } from './read-style.ts' with { type: 'macro' }

const style = readStyle() as unknown as string

/** `colour`: `#rrggbb`. */
export const styleIn = (colour: string): string => style + brandStyle(colour)
