/** The placeholders in the texts of a gateway: `{to}`. `{{` is a brace; a brace that names nothing is itself. */

export const placeholderNames = [
  'to',
  'to_digits',
  'to_national',
  'text',
  'code',
  'language',
  'minutes',
  'id',
] as const
type PlaceholderName = (typeof placeholderNames)[number]
export type PlaceholderValues = Record<PlaceholderName, string>

/** A text, number or truth value, or tables and arrays of them; texts may hold placeholders. */
export type Template = string | number | boolean | Template[] | { [name: string]: Template }

const mark = /\{\{|\{([^{}]*)\}/g
const isKnown = (name: string): name is PlaceholderName => placeholderNames.some((each) => each === name)

/** The names between braces, known or not. */
export function namesInTemplate(template: Template): string[] {
  return textsIn(template).flatMap((text) =>
    [...text.matchAll(mark)].flatMap(([, name]) => (name === undefined ? [] : [name])),
  )
}

export const unknownPlaceholders = (template: Template): string[] =>
  namesInTemplate(template).filter((name) => !isKnown(name))

/** Returns the parts of a text between its placeholders. */
export const literalsIn = (text: string): string[] =>
  placeholderNames
    .reduce((texts, name) => texts.flatMap((each) => each.split(`{${name}}`)), [text])
    .map((each) => each.replaceAll('{{', '{').trim())
    .filter((each) => each !== '')

/** In one pass: what a placeholder inserts is not read again. */
export function fillText(
  text: string,
  values: PlaceholderValues,
  encode: (value: string) => string = (value) => value,
): string {
  return text.replace(mark, (found, name: string | undefined) => {
    if (name === undefined) return '{'
    return isKnown(name) ? encode(values[name]) : found
  })
}

export function fillTemplate(template: Template, values: PlaceholderValues): Template {
  if (typeof template === 'string') return fillText(template, values)
  if (Array.isArray(template)) return template.map((each) => fillTemplate(each, values))
  if (typeof template !== 'object') return template
  return Object.fromEntries(
    Object.entries(template).map(([name, each]) => [name, fillTemplate(each, values)]),
  )
}

function textsIn(template: Template): string[] {
  if (typeof template === 'string') return [template]
  if (typeof template !== 'object') return []
  return (Array.isArray(template) ? template : Object.values(template)).flatMap(textsIn)
}
