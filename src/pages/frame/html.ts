/** HTML as values: what is put into a template is escaped, unless it is HTML itself. */
import { escapeHtml } from '../../platform/http/page-answer.ts'

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

/** Absent parts and `false` give nothing, and lists are joined. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, each, index) => text + render(parts[index - 1]) + each))
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  return typeof part === 'object' ? part.map(render).join('') : escapeHtml(String(part))
}
