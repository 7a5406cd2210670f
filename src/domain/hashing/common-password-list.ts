/**
 * The passwords everybody tries first, of at least 8 code points, lower case, one a line. Runs while the code is
 * bundled (a Bun macro), so that only the lines themselves travel in the executable, not the package they come from.
 */
import { dictionary } from '@zxcvbn-ts/language-common'

/** Shorter ones are refused by their length: NIST SP 800-63B-4 asks only for what length lets through. */
const SHORTEST_CODE_POINTS = 8

/** Sorted as strings compare, the text beginning and ending with a line break. */
export function commonPasswordLines(): string {
  const lines = new Set<string>()
  for (const password of dictionary['passwords-common'] as string[]) {
    const comparable = password.normalize('NFKC').toLowerCase()
    if ([...comparable].length >= SHORTEST_CODE_POINTS) lines.add(comparable)
  }
  return `\n${[...lines].sort().join('\n')}\n`
}
