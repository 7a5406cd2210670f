/** The URL of a store as people write it: with which sign it goes wrong, as a password often brings one. */

interface StoreUrl {
  scheme: RegExp
  /** Returns what is wrong with a URL without a faulty sign; null where it can be used. */
  refusalOf(text: string): string | null
  /** The refusal that such a sign in user or password may be the cause of. */
  unreadablePlace: string
}

/**
 * The characters that a URL cannot hold as they are: separators, blanks, control characters, and a % that begins no
 * number.
 */
const UNWRITABLE = /[/?#[\]\s\p{Cc}]|%(?![\da-f]{2})/iu

export function createStoreUrl({ scheme, refusalOf, unreadablePlace }: StoreUrl) {
  function findFaultySign(text: string): string | null {
    const rest = text.replace(scheme, '')
    const anywhere = /[\s\p{Cc}]|%(?![\da-f]{2})/iu.exec(rest)
    if (anywhere) return anywhere[0]
    if (!isDecodable(rest)) return '%'
    const [authority = ''] = /^[^/?#]*/.exec(rest) ?? []
    const credentials = authority.includes('@') ? authority.slice(0, authority.lastIndexOf('@')) : ''
    if (credentials.includes('@')) return '@'
    const path = rest.slice(authority.length)
    if (endsInPath(path, text)) return UNWRITABLE.exec(rest)?.[0] ?? null
    return rest.includes('#') ? '#' : null
  }

  /** The @ that ends user and password came after a sign that ends them earlier. */
  function endsInPath(path: string, text: string): boolean {
    if (/^[^?]*@/.test(path)) return true
    return path.includes('@') && (refusalOf(text) === unreadablePlace || /@[^&]*\//.test(path))
  }

  return {
    isUsable: (text: string): boolean =>
      scheme.test(text) && findFaultySign(text) === null && refusalOf(text) === null,
    /** It returns null where nothing better can be said than what is expected. Shows one sign of the URL and nothing else of it. */
    explain(text: string, instead: string): string | null {
      if (!scheme.test(text)) return null
      const sign = findFaultySign(text)
      if (sign === null) return refusalOf(text)
      const name = /^\s$/.test(sign)
        ? 'a blank'
        : /^\p{Cc}$/u.test(sign)
          ? 'a control character'
          : `the sign ${sign}`
      return `it holds ${name}, which a URL cannot hold as it is: ${instead}write ${encode(sign)} instead of it`
    },
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const encode = (sign: string): string =>
  sign === '%'
    ? '%25'
    : encodeURIComponent(sign).replace(/[[\]]/, (bracket) => (bracket === '[' ? '%5B' : '%5D'))
