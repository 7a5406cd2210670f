/**
 * Finds comments that nobody would say aloud: parts of sentences, long sentences, riddles and lists of thrown codes. It
 * knows no grammar: it looks at the first word of a sentence, and for a verb outside of subordinate clauses.
 */

export interface Comment {
  line: number
  text: string
}

const MAXIMUM_WORDS = 30

const comments =
  /^[ \t]*\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/(?!\/).*\n?)+)|(?<=[;,{}()\]>'"\w] )\/\/ (.*)$/gm
const leftOut = /^\s*(?:\||- |\d+\. |@\w|`{3}|biome-ignore|#)/

/** Consecutive line comments are one. Instructions to programs, lists and tables are left out. */
export function commentsOf(source: string): Comment[] {
  return [...source.matchAll(comments)]
    .map((match) => {
      const inner = match[1] ?? match[2] ?? match[3] ?? ''
      const lines = inner.split('\n').map((line) => line.replace(/^\s*(?:\*|\/\/)? ?/, '').trimEnd())
      const text = lines.filter((line) => !leftOut.test(line)).join('\n')
      return { line: source.slice(0, match.index).split('\n').length, text: text.trim() }
    })
    .filter(({ text }) => text !== '')
}

/** An empty line ends a sentence, too. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .flatMap((paragraph) =>
      paragraph
        .replace(/\s+/g, ' ')
        .trim()
        .split(/(?<=[.!?]["')”]?) (?=["'(“]?[A-Z`\d]|(?:docs|src|test|scripts)\/)/),
    )
    .filter((sentence) => sentence !== '')
}

export const countWords = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

const openings =
  /^(?:About|Across|Against|Among|At|Behind|Beside|Besides|Between|Beyond|By|During|For|From|In|Inside|Into|Of|On|Out|Outside|Over|Through|To|Toward|Towards|Under|Upon|Via|With|Within|Without|(?:Null|Empty|False|Undefined)(?! \w+s)|Not|Also|Instead)\b/
const subordinators =
  /^(?:After|Although|As|Because|Before|If|Once|Since|So that|Than|Though|Until|Unless|When|Whenever|Where|Wherever|While|Who|Whoever|Whom|Whose|Which|Why)\b/
const clauses =
  /\b(?:that|which|who|whom|whose|where|when|while|if|because|since|until|unless|as|so that|than|whether|how|what|before|after|once|whatever|whichever)\b[^,;:()]*/gi
const joins =
  /^(?:and|or|but|also|not|never|so|which|who|that|where|if|even|in|for|of|by|with|from|to|at|on|as|without|null)\b/i
const verbs =
  /\b(?:am|is|are|was|were|be|been|has|have|had|can|cannot|could|may|might|must|shall|should|will|would|does|do|did|\w+n't|goes?|ends?|comes?|gets?|gives?|keeps?|stays?|takes?|makes?|holds?|needs?|says?|counts?|stands?|begins?|works?|runs?|returns?|throws?|lives?|lies?|means?|sends?|reads?|writes?|uses?|asks?|waits?|leaves?|finds?|fails?|shows?|signs?|knows?|serves?|costs?|lets?|belongs?|follows?|pass(?:es)?|closes?|opens?|starts?|stops?|refuses?|accepts?|becomes?|became|remains?|tells?|sees?|looks?|allows?|wants?|appl(?:y|ies)|contains?|took|made|kept|went|found|left|knew|held|expects?|grows?|loses?|decides?|happens?|occurs?|ignores?|differs?|compares?|proves?|arrives?|tr(?:y|ies)|creates?|wins?|rises?|falls?|hides?|breaks?|fits?|puts?|brings?|turns?|reach(?:es)?|suffices?|rejects?|repeats?)\b/i
const subjectAndVerb =
  /^(?:it|he|she|they|we|you|this|that|everything|nothing|nobody|everybody|somebody|one) [a-z]|^(?:the|an?|each|every|no|its|their|our) [\w'-]+ \w+(?:s|ed)\b/i

/** Tells whether it begins like a part of a sentence, and nothing that follows could be its main clause. */
export function isFragment(sentence: string): boolean {
  // Words behind a colon or a semicolon do not make a sentence of those before it.
  const [text = ''] = sentence
    .replace(/`[^`]*`/g, 'x')
    .replace(/\([^)]*\)/g, '')
    .split(/[:;]/)
  const isSubordinate = subordinators.test(text)
  if (!isSubordinate && !openings.test(text)) return false
  const parts = text
    .split(',')
    .slice(1)
    .map((part) => part.trim())
  if (parts.some((part) => !joins.test(part) && (verbs.test(part) || subjectAndVerb.test(part)))) return false
  return isSubordinate || !verbs.test(text.replace(clauses, ' '))
}

/** A noun phrase names its noun first: "The address that …", and a function says what it does: "Returns …". */
const questions = /^(?:What|How|Whether|Why|Which|Who)\b/

/** Words that make a reader stop. */
export const riddles = /\b(?:whoever|whomever|whosoever|what is no|of what no)\b/i

/** The sentences of a comment that have to be written anew, each with the reason. `codes`: those of the error table. */
export function findPoorSentences(text: string, codes: readonly string[]): string[] {
  const throws = new RegExp(`\\bthrows?\\b[^.]*\\b(?:${codes.join('|')})\\b`, 'i')
  return sentencesOf(text).flatMap((sentence) => {
    const words = countWords(sentence)
    const shown = sentence.length > 70 ? `${sentence.slice(0, 70)}…` : sentence
    return [
      ...(isFragment(sentence) ? [`is no sentence: "${shown}"`] : []),
      ...(words > MAXIMUM_WORDS ? [`has ${words} words, more than ${MAXIMUM_WORDS}: "${shown}"`] : []),
      ...(questions.test(sentence) ? [`begins with a question instead of its noun or verb: "${shown}"`] : []),
      ...(riddles.test(sentence) ? [`is a riddle: "${shown}"`] : []),
      ...(throws.test(sentence) ? [`lists thrown codes, which the routes do: "${shown}"`] : []),
    ]
  })
}

/** Tells whether the comment goes on in the next one, so that an editor shows the middle of a sentence. */
export const isUnfinished = (text: string): boolean => !/[.:!?)`"”…\]>*|}]$|https?:\S+$/.test(text)

/** Tells whether a comment before the first statement says what the file is for. */
export const hasHead = (source: string): boolean =>
  /^\s*(?:\/\*\*|\/\/)/.test(
    source.replace(/^#!.*\n/, '').replace(/^import\s(?:[\s\S]*?from )?'[^']*'\n/gm, ''),
  )
