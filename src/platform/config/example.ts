/**
 * The documents about the configuration, made from the table: the commented example (`config example`,
 * config.example.toml) and the page docs/configuration.md. `bun run check` compares both files with it.
 */
import { toToml } from './report.ts'
import { type KeyRule, variable } from './rules.ts'
import { type Keys, type Section, sections } from './schema.ts'

const width = 100

const exampleHead = [
  'The configuration of poterne: every key with its default or, where it has none, an example.',
  '',
  `Lines that begin with "# " explain. To change a setting, remove the "#" before it. A text may hold ${variable('NAME')}, the value of an environment variable.`,
  'An environment variable sets any key outside [[…]] and takes precedence over this file: POTERNE_<SECTION>_<KEY>, or POTERNE_<SECTION>_<KEY>_FILE for the name of a file that holds the value.',
  'A duration is a whole number and a unit: ms, s, m, h, d. `poterne config check` says what is wrong.',
  'Only the mail server below is set, because a service that can reach nobody does not start. Replace it by yours, or by an SMS gateway.',
].join('\n')

/** Valid as it is (all defaults, and a mail server), and also with every \`#setting\` switched on. */
export function configExample(): string {
  const parts = [comment(exampleHead)]
  for (const [name, section] of Object.entries(sections)) {
    if (section.rows) {
      parts.push(`${comment(section.doc)}#[[${name}]]\n${exampleKeys(section.rows, '#')}`)
      continue
    }
    const off = section.optional && name !== 'smtp' ? '#' : ''
    const keys = exampleKeys(section.keys, off)
    parts.push(`${comment(section.doc)}${off}[${name}]\n${keys}${exampleEntries(section)}`)
    for (const [list, { doc, keys }] of Object.entries(section.lists)) {
      parts.push(`${comment(doc)}#[[${name}.${list}]]\n${exampleKeys(keys, '#')}`)
    }
  }
  return parts.join('\n')
}

/** `required`: the sign before the keys that a section requires; without one they are switched on. */
function exampleKeys(keys: Keys, required: '' | '#'): string {
  const lines = Object.entries(keys).map(([key, rule]) => {
    const setting = `${key} = ${toToml(rule.example ?? rule.initial)}`
    const sign = rule.initial === undefined ? required : '#'
    return `${comment(rule.doc)}${rule.alternative ? '# ' : sign}${setting}\n`
  })
  return lines.join('')
}

/** Writes a section whose keys are free. */
const exampleEntries = ({ entries }: Section): string =>
  Object.entries(entries?.example ?? {})
    .map(([key, value]) => `#${key} = ${toToml(value)}\n`)
    .join('')

/** Lines that begin with "# ", broken at blanks. */
function comment(text: string): string {
  const lines = text.split('\n').flatMap((paragraph) => {
    const broken = ['']
    for (const word of paragraph.split(' ')) {
      const last = broken[broken.length - 1] ?? ''
      if (last !== '' && last.length + 1 + word.length > width) broken.push(word)
      else broken[broken.length - 1] = last === '' ? word : `${last} ${word}`
    }
    return broken
  })
  return lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
}

const pageHead = `# Configuration

<!-- Made from src/platform/config/schema.ts by scripts/write-configuration.ts; change it there. -->

One TOML file, the first of these that is there: \`--config FILE\`, \`$POTERNE_CONFIG\`, \`./config.toml\`,
\`/etc/poterne/config.toml\`; or none. \`poterne config example\` prints one with every key, \`poterne config check\` says
what is wrong with yours (all of it at once), \`poterne config show\` prints what holds and where it comes from.

- A text of the file may hold \`\${NAME}\`: the value of that environment variable, which must be set. \`$\${\` stands for
  \`\${\` itself.
- Every key outside \`[[…]]\` and \`[roles]\` is also an environment variable, \`POTERNE_<SECTION>_<KEY>\`, and that one wins:
  \`POTERNE_SERVER_PORT=9000\`. Lists are separated by commas: \`POTERNE_SMS_ALLOWED_COUNTRIES=FR,CI\`. An empty
  one unsets \`smtp.username\`, \`smtp.password\`, \`smtp.reply_to\`, \`texts.layout\` and, of \`[passkeys]\`, \`rp_name\`,
  \`enroll_url\` and \`manage_url\`; anywhere else it is a value like others.
- \`POTERNE_<SECTION>_<KEY>_FILE\` names a file that holds the value (line ends at its end are cut off). Both at once are
  an error.
- Durations are a text of a whole number and a unit: \`"500ms"\`, \`"30s"\`, \`"10m"\`, \`"12h"\`, \`"30d"\`.
- Unknown sections, keys and variables are errors. The service reads no \`.env\`.
- Without \`--dev\` there must be a way to reach people: \`[smtp]\` or a \`[[sms.gateways]]\`.
`

/** The page docs/configuration.md. */
export function configPage(): string {
  const parts = [pageHead]
  for (const [name, section] of Object.entries(sections)) {
    const title = section.rows ? `[[${name}]]` : `[${name}]`
    parts.push(`## ${title}\n\n${section.doc}\n\n${pageTable(keysOf(section))}`)
    for (const [list, { doc, keys }] of Object.entries(section.lists)) {
      parts.push(`## [[${name}.${list}]]\n\n${doc}\n\n${pageTable(keys)}`)
    }
  }
  return parts.join('\n')
}

/** A section whose keys are free has one row, with an example as its key. */
function keysOf({ keys, entries, rows }: Section): Keys {
  if (!entries) return rows ?? keys
  const [example = ''] = Object.keys(entries.example as object)
  return { [example]: { ...entries, initial: null } }
}

function pageTable(keys: Keys): string {
  const rows = Object.entries(keys).map(
    ([key, rule]) =>
      `| \`${key}\` | ${rule.kind} | ${pageDefault(rule)} | ${rule.doc}${rule.secret ? ' Secret.' : ''} |\n`,
  )
  return `| key | kind | default | meaning |\n|---|---|---|---|\n${rows.join('')}`
}

function pageDefault({ initial }: KeyRule<unknown, string>): string {
  if (initial === undefined) return 'must be set'
  return initial === null ? '' : `\`${toToml(initial)}\``
}
