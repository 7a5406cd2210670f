/** The texts of headers, read as the browser or proxy read them that passed them on. */

/**
 * Strips spaces and tabs, the white space of HTTP (RFC 9110, 5.6.3). `trim()` strips more, such as a no-break space, so that
 * what a browser holds for another text would count as this one.
 */
export function stripBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

const isBlank = (character: string | undefined) => character === ' ' || character === '\t'
