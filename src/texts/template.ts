/** Reads the small language in which messages are written; messages.ts describes it. */

type Fill = (values: Record<string, string>) => string

type Part = string | { name: string }
type Piece = Part | { optional: Part[]; otherwise: Part[] }

const tokens = /\{\{|\}\}|\[\[|\]\]|\{[^{}[\]]*\}|[{}[\]|]|[^{}[\]|]+/g

/** `names`: the placeholders, also those of optional parts. `problem`: the first thing that is wrong, or null. */
export function parseTemplate(text: string) {
  const pieces: Piece[] = []
  const names: string[] = []
  let problem: string | null = null
  let open: { optional: Part[]; otherwise: Part[] } | null = null
  let into: Piece[] = pieces
  for (const [token] of text.matchAll(tokens)) {
    if (token === '[' && open === null) {
      open = { optional: [], otherwise: [] }
      into = open.optional
    } else if (token === '|' && into === open?.optional) {
      into = open.otherwise
    } else if (token === ']' && open !== null) {
      pieces.push(open)
      open = null
      into = pieces
    } else {
      const part = readPart(token)
      if (typeof part !== 'string') names.push(part.name)
      else if (/^[{}[\]]$/.test(token)) problem ??= `a single ${token}`
      into.push(part)
    }
  }
  if (open === null) return { pieces, names, problem }
  return { pieces: [...pieces, open], names, problem: problem ?? 'a [ without its ]' }
}

function readPart(token: string): Part {
  if (token.length > 2 && token.startsWith('{')) return { name: token.slice(1, -1) }
  return /^(\{\{|\}\}|\[\[|\]\])$/.test(token) ? (token[0] as string) : token
}

/** An unknown value, outside of an optional part, is empty. */
export function compileTemplate(text: string): Fill {
  const { pieces } = parseTemplate(text)
  return (values) => {
    const fill = (part: Part) => (typeof part === 'string' ? part : (values[part.name] ?? ''))
    const isMissing = (part: Part) => typeof part !== 'string' && !values[part.name]
    return pieces
      .map((piece) => {
        if (typeof piece === 'string' || 'name' in piece) return fill(piece)
        return (piece.optional.some(isMissing) ? piece.otherwise : piece.optional).map(fill).join('')
      })
      .join('')
  }
}
