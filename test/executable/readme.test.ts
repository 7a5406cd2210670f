/** The tour of the README: each command is run by a shell against `serve --dev`, and each answer compared. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { waitFor } from '../helpers/wait.ts'

const readme = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8')

interface Block {
  language: string
  text: string
}

function blocksOf(heading: string): Block[] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`)
  const untilNext = section.split('\n## ')[0] ?? ''
  return [...untilNext.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text: text.trim(),
  }))
}

/** An ellipsis stands for whatever is left out, in a text or among the fields. */
function patternOf(printed: string): RegExp {
  const literal = printed.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${literal.replace(/"[^"]*…"/g, '"[^"]+"').replaceAll('…', '.*')}$`)
}

test('the tour works as it is printed', async () => {
  const port = await freePort()
  const dev = await spawnExecutable(['serve', '--dev'], { env: { POTERNE_SERVER_PORT: String(port) } })
  const address = `localhost:${port}`
  await waitFor(async () => (await fetch(`http://${address}/readyz`)).ok, { timeoutMs: 30_000 })

  const blocks = blocksOf('A tour in five minutes')
  const shell = blocks.filter(({ language }) => language === 'sh')
  // A mark between the blocks: what each of them printed last is what the README shows.
  const script = shell.map(({ text }) => `${text}\necho; echo "--"`).join('\n')
  const bash = Bun.spawn(['bash', '-c', script.replaceAll('localhost:8080', address)], {
    cwd: dev.directory,
    stderr: 'inherit',
  })
  const outputs = (await new Response(bash.stdout).text()).split('\n--\n')
  expect(await bash.exited).toBe(0)

  const answers = outputs.slice(1, shell.length).map((output) => output.split(/(?<=\})(?=\{"status")/))
  const printed = blocks.flatMap(({ language, text }, index) => {
    if (language !== 'json') return []
    const before = blocks.slice(0, index).filter((block) => block.language === 'sh').length
    return [{ text, answer: answers[before - 2]?.at(-1)?.trim() ?? '' }]
  })
  expect(printed).toHaveLength(3)
  for (const { text, answer } of printed) expect(answer).toMatch(patternOf(text))
  const statuses = answers.flat().map((answer) => JSON.parse(answer).status)
  expect(statuses).toEqual([201, 201, 200, 201, 200, 401])

  dev.signal('SIGTERM')
  expect(await dev.exited).toBe(0)
}, 60_000)
