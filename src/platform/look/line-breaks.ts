/**
 * The parts of a text between which a line may break. A word that a row on a phone does not hold, such as a long address,
 * breaks before an @ or a dot. Pages and the page of administration follow this one rule; the latter runs it in the browser.
 */
export const lineParts = (text: string, longest = 24): string[] =>
  text
    .split(new RegExp(`(\\S{${longest + 1},})`))
    .flatMap((part, i) => (i % 2 === 1 ? part.split(/(?=[@.])/) : part || []))

/** A line of a title holds less. */
export const IN_TITLE = 16
