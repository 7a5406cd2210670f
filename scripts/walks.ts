/**
 * `bun scripts/walks.ts [--list]`: the files of src in which a function runs while the service answers a request, for a few
 * requests: those that somebody enters who follows them with a debugger. `--list` names the files.
 */
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { plugin } from 'bun'
import ts from 'typescript'
import { root } from './checks/source-files.ts'

const { values } = parseArgs({ options: { list: { type: 'boolean' } } })

/** So often each request is made. */
const TIMES = 3

let entered = new Set<string>()
Object.assign(globalThis, { enterFile: (path: string) => void entered.add(path) })

/** The text of a module in which each function first says its file. */
function instrumented(path: string, text: string): string {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const enter = `enterFile(${JSON.stringify(relative(root, path))})`
  const added: { at: number; text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const body = node.body as ts.ConciseBody
      if (ts.isBlock(body)) added.push({ at: body.getStart(file) + 1, text: `${enter};` })
      else added.push({ at: body.getStart(file), text: `(${enter}, ` }, { at: body.end, text: ')' })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  // Of two that end at one place the order does not matter; what begins further behind is added first.
  return added
    .sort((one, other) => other.at - one.at)
    .reduce((whole, { at, text }) => whole.slice(0, at) + text + whole.slice(at), text)
}

await plugin({
  name: 'walks',
  setup: (build) => {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => ({
      contents: instrumented(path, await Bun.file(path).text()),
      loader: 'ts',
    }))
  },
})

const { startService } = await import('../test/helpers/service.ts')
const { newEmail, registration } = await import('../test/helpers/api-client.ts')
const { listening, operatorOf } = await import('../test/helpers/administration.ts')
const { openBrowser, pageSettings } = await import('../test/helpers/page-browser.ts')

const service = await startService({ shape: 'redis', settings: { ...listening, ...pageSettings } })
const walks: Record<string, string[]> = {}
/** Entered each time: the first time more is made ready, and meanwhile goes on what runs by itself. */
async function walk(name: string, request: (at: number) => Promise<unknown>): Promise<void> {
  const times: Set<string>[] = []
  for (let at = 0; at < TIMES; at++) {
    await Bun.sleep(1100)
    entered = new Set()
    await request(at)
    times.push(entered)
  }
  walks[name] = [...times.reduce((all, one) => all.intersection(one))].sort()
}

const operator = operatorOf(service)
const person = await service.signUp(newEmail())
const waiting: { identifier: string; otp: string }[] = []
for (let at = 0; at < TIMES; at++) {
  const identifier = newEmail()
  await service.post('register', registration(identifier))
  waiting.push({ identifier, otp: await service.newestCode(identifier) })
}
await walk('a login', () => service.logIn(person))
await walk('a confirmation', (at) => service.post('verify-account', waiting[at]))
await walk('an administration search', () => operator('GET', 'accounts?query=person'))
const browsers = Array.from({ length: TIMES }, () => openBrowser(service.url))
await walk('the page of a sign-in', (at) => browsers[at]!.open('/sign-in'))
await walk('a page sign-in', (at) => {
  const [form] = browsers[at]!.forms
  return browsers[at]!.post(form!.action, { ...form!.fields, ...person })
})
await service.close()

const isOfProduct = (path: string) => !/^src\/(platform|texts)\//.test(path)
for (const [name, files] of Object.entries(walks)) {
  const ofProduct = files.filter(isOfProduct).length
  console.log(
    `${name.padEnd(28)}${String(files.length).padStart(4)}, ${ofProduct} without platform and texts`,
  )
  if (values.list) console.log(files.map((path) => `  ${path}`).join('\n'))
}
