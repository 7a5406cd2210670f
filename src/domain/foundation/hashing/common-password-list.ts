/**
 * The most common passwords of at least 8 code points, in lower case, one on each line. A Bun macro: it runs while the
 * code is bundled, so that the executable holds only the lines and not the package they come from.
 */
import { dictionary } from '@zxcvbn-ts/language-common'

/** Shorter ones are refused for their length; NIST SP 800-63B-4 requires the list only for the others. */
const SHORTEST_CODE_POINTS = 8

/** The words are in the order in which JavaScript compares strings; the text begins and ends with a line break. */
export function commonPasswordLines(): string {
  const lines = new Set<string>()
  for (const password of dictionary['passwords-common'] as string[]) {
    const comparable = password.normalize('NFKC').toLowerCase()
    if ([...comparable].length >= SHORTEST_CODE_POINTS) lines.add(comparable)
  }
  return `\n${[...lines].sort().join('\n')}\n`
}
