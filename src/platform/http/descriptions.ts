/** What only describes the caller decides nothing, and so refuses nothing: it is mended and cut. */

/** The fields of bodies that describe the device of the caller. */
const DESCRIBING = ['device_type', 'device_name', 'device_os']

const MAXIMUM_LENGTH = 255

/** Cuts at the end of a character, and leaves out what no database keeps. */
export const mendDescription = (text: string, length = MAXIMUM_LENGTH): string =>
  [...text.replace(/[\0\p{Cs}]/gu, '')].slice(0, length).join('')

/** Mends them in the body, before it is checked. */
export function mendDescriptions(body: Record<string, unknown>): Record<string, unknown> {
  for (const field of DESCRIBING) {
    const value = body[field]
    if (typeof value === 'string') body[field] = mendDescription(value)
  }
  return body
}
