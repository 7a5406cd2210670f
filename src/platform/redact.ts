/**
 * Takes secrets out of what other servers say. A server may repeat a key as it is, percent-encoded, escaped for JSON or
 * HTML, in hexadecimal digits, or inside base64, and may encode it several times.
 */
export type Redact = (text: string) => string

/** A shorter one protects nothing, and would tear other words apart. */
const SHORTEST_SECRET = 4
/** A shorter part of base64 stands in other words by chance. */
const SHORTEST_BASE64 = 6
/** The number of encodings, one inside the other, that are undone. */
const DEPTH = 4

/** Each secret becomes `…`. */
export function createRedactor(secrets: readonly string[]): Redact {
  const forms = [...new Set(secrets)].filter(({ length }) => length >= SHORTEST_SECRET).map(formsOf)
  if (forms.length === 0) return (text) => text
  return (text) => {
    const hidden = new Uint8Array(text.length)
    let decoded: Decoded | null = undecoded(text)
    for (let depth = 0; decoded !== null && depth < DEPTH; depth++) {
      for (const each of forms) hide(hidden, decoded, each)
      decoded = decode(decoded)
    }
    return replaceHidden(text, hidden)
  }
}

interface Forms {
  plain: string[]
  hexadecimal: string
  base64: string[]
}

function formsOf(secret: string): Forms {
  const bytes = Buffer.from(secret)
  const parts = [0, 1, 2].map((before) => base64After(before, bytes))
  return {
    plain: [...new Set([secret, secret.replaceAll(' ', '+')])],
    hexadecimal: bytes.toString('hex'),
    base64: [bytes.toString('base64').replace(/={1,2}$/, ''), ...parts].filter(
      ({ length }) => length >= SHORTEST_BASE64,
    ),
  }
}

/** The characters of base64 that these bytes alone decide where so many others stand before them, modulo three. */
function base64After(before: number, bytes: Buffer): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}

/** A text, and where each of its characters begins and ends in the original one. */
interface Decoded {
  text: string
  starts: number[]
  ends: number[]
}

const undecoded = (text: string): Decoded => ({
  text,
  starts: Array.from({ length: text.length }, (_, index) => index),
  ends: Array.from({ length: text.length }, (_, index) => index + 1),
})

function hide(hidden: Uint8Array, decoded: Decoded, forms: Forms): void {
  const { text } = decoded
  for (const form of forms.plain) hideEach(hidden, decoded, text, form)
  hideEach(hidden, decoded, text.toLowerCase(), forms.hexadecimal)
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  for (const form of forms.base64) hideEach(hidden, decoded, standard, form, /[A-Za-z\d+/=]/)
}

/** `around`: what belongs to the same word, and goes with it. */
function hideEach(
  hidden: Uint8Array,
  { starts, ends }: Decoded,
  text: string,
  form: string,
  around?: RegExp,
): void {
  // Some letters change their number when they become small ones: then their places are not known.
  if (text.length !== starts.length) return
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
    let [first, last] = [at, at + form.length - 1]
    while (around && first > 0 && around.test(text[first - 1]!)) first--
    while (around && last < text.length - 1 && around.test(text[last + 1]!)) last++
    hidden.fill(1, starts[first], ends[last])
    at = last
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/' }
const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
const encoded =
  /(?<percent>(?:%[\da-f]{2})+)|\\u(?<unicode>[\da-f]{4})|\\x(?<byte>[\da-f]{2})|\\(?<escaped>["'\\/nrtbf])|&#x(?<hex>[\da-f]{1,6});|&#(?<decimal>\d{1,7});|&(?<entity>amp|lt|gt|quot|apos|sol);/gi

/** Undoes one encoding; null where nothing is encoded. */
function decode({ text, starts, ends }: Decoded): Decoded | null {
  const result: Decoded = { text: '', starts: [], ends: [] }
  let done = 0
  const add = (piece: string, from: number, to: number, each: boolean) => {
    for (let index = 0; index < piece.length; index++) {
      result.starts.push(starts[each ? from + index : from]!)
      result.ends.push(ends[each ? from + index : to - 1]!)
    }
    result.text += piece
  }
  for (const found of text.matchAll(encoded)) {
    const end = found.index + found[0].length
    add(text.slice(done, found.index), done, found.index, true)
    const { percent } = found.groups!
    if (percent === undefined) add(characterOf(found.groups!), found.index, end, false)
    else addBytes(percent, found.index)
    done = end
  }
  if (done === 0) return null
  add(text.slice(done), done, text.length, true)
  return result

  /** Character by character, so that what stands beside a secret in the same run stays. */
  function addBytes(percent: string, at: number): void {
    let from = at
    for (const character of Buffer.from(percent.replaceAll('%', ''), 'hex').toString('utf8')) {
      const to = Math.min(from + 3 * Buffer.byteLength(character), at + percent.length)
      add(character, Math.min(from, to - 1), to, false)
      from = to
    }
  }
}

function characterOf({ unicode, byte, escaped, hex, decimal, entity }: Record<string, string | undefined>) {
  if (escaped !== undefined) return escapes[escaped] ?? escaped
  if (entity !== undefined) return entities[entity.toLowerCase()]!
  const number = decimal === undefined ? Number.parseInt((unicode ?? byte ?? hex)!, 16) : Number(decimal)
  return number > 0x10_ffff ? '\ufffd' : String.fromCodePoint(number)
}

function replaceHidden(text: string, hidden: Uint8Array): string {
  let result = ''
  for (let index = 0; index < text.length; index++)
    if (!hidden[index]) result += text[index]
    else if (index === 0 || !hidden[index - 1]) result += '…'
  return result
}
