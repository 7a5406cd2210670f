/** The length of an SMS for those who transport and charge it: in segments, by the alphabet that it needs. */

export interface SmsLength {
  /** GSM-7: the alphabet of SMS (3GPP TS 23.038); UCS-2: anything else, at less than half of the length. */
  alphabet: 'GSM-7' | 'UCS-2'
  segments: number
  /** The characters that made it UCS-2. */
  foreign: string[]
}

const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
/** Two places each. */
const extended = '^{}\\[~]|€\f'

/**
 * The same words without the accents and spaces that would make an SMS UCS-2: for values that come from elsewhere, such
 * as the names of days. Letters that are not Latin stay as they are.
 */
export function inSmsLetters(text: string): string {
  return text.replace(/[\p{Script=Latin}\p{Zs}]/gu, (one) => {
    if (basic.includes(one)) return one
    return /\p{Zs}/u.test(one) ? ' ' : one.normalize('NFD').replace(/\p{Mn}/gu, '')
  })
}

export function smsLength(text: string): SmsLength {
  const foreign = [...new Set(text)].filter((one) => !basic.includes(one) && !extended.includes(one))
  if (foreign.length > 0) {
    return { alphabet: 'UCS-2', segments: text.length <= 70 ? 1 : Math.ceil(text.length / 67), foreign }
  }
  const places = [...text].reduce((sum, one) => sum + (extended.includes(one) ? 2 : 1), 0)
  return { alphabet: 'GSM-7', segments: places <= 160 ? 1 : Math.ceil(places / 153), foreign }
}
