/**
 * Lints an OpenAPI document with the recommended rules of @redocly/cli and with `spectral:oas`; a warning of either fails
 * it like an error.
 * `bun scripts/lint-openapi.ts http://127.0.0.1:8080/swagger/json` asks a running service for its document.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const projectDirectory = join(import.meta.dir, '..')
const programs = join(projectDirectory, 'node_modules/.bin')

/** The linters' report; `clean` if it is empty. */
export async function lintOpenapi(document: unknown): Promise<{ clean: boolean; report: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'poterne-openapi-'))
  try {
    const file = join(directory, 'openapi.json')
    await Bun.write(file, JSON.stringify(document))
    const found = await Promise.all([askRedocly(file, directory), askSpectral(file, directory)])
    const problems = found.flat()
    return { clean: problems.length === 0, report: problems.join('\n') }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function askRedocly(file: string, cwd: string): Promise<string[]> {
  const lint = Bun.spawn(
    [join(programs, 'redocly'), 'lint', '--extends', 'recommended', '--format', 'json', file],
    {
      cwd,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdout: 'pipe',
      stderr: 'ignore',
    },
  )
  const { problems } = JSON.parse(await new Response(lint.stdout).text()) as { problems: Problem[] }
  return problems.map(describeProblem)
}

async function askSpectral(file: string, cwd: string): Promise<string[]> {
  const ruleset = join(cwd, 'spectral.json')
  await Bun.write(ruleset, JSON.stringify({ extends: 'spectral:oas' }))
  const lint = Bun.spawn(
    [join(programs, 'spectral'), 'lint', '--ruleset', ruleset, '--format', 'json', '--quiet', file],
    {
      cwd,
      stdout: 'pipe',
      stderr: 'ignore',
    },
  )
  const text = await new Response(lint.stdout).text()
  const found = JSON.parse(text) as { code: string; path: (string | number)[]; message: string }[]
  return found.map(({ code, path, message }) => `${code} at ${path.join('/')}: ${message}`)
}

interface Problem {
  ruleId: string
  severity: string
  message: string
  location: { pointer?: string }[]
}

function describeProblem({ ruleId, severity, message, location }: Problem): string {
  return `${severity} ${ruleId} at ${location[0]?.pointer ?? '?'}: ${message}`
}

if (import.meta.main) {
  const address = process.argv[2]
  if (!address) {
    console.error('Usage: bun scripts/lint-openapi.ts <address of the OpenAPI document>')
    process.exit(2)
  }
  const { clean, report } = await lintOpenapi(await (await fetch(address)).json())
  console.log(clean ? 'The OpenAPI document is clean.' : report)
  process.exit(clean ? 0 : 1)
}
