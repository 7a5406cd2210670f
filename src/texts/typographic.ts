/**
 * A text as it is printed: with curly apostrophes, and with what French sets apart from a word in the line of that word.
 * SMS keep straight apostrophes: curly ones would cost them more than half of their length.
 */
export const typographic = (text: string): string =>
  text
    .replaceAll("'", '’')
    .replace(/ (?=[:;!?»])/g, '\u00a0')
    .replaceAll('« ', '«\u00a0')
