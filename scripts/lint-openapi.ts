/**
 * Lints an OpenAPI document with the recommended rules of @redocly/cli; a warning fails it like an error.
 * `bun scripts/lint-openapi.ts http://127.0.0.1:8080/swagger/json` asks a running service for its document.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const projectDirectory = join(import.meta.dir, '..')
const program = join(projectDirectory, 'node_modules/.bin/redocly')

/** The linter's report; `clean` if it is empty. */
export async function lintOpenapi(document: unknown): Promise<{ clean: boolean; report: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'poterne-openapi-'))
  try {
    const file = join(directory, 'openapi.json')
    await Bun.write(file, JSON.stringify(document))
    const lint = Bun.spawn([program, 'lint', '--extends', 'recommended', '--format', 'json', file], {
      cwd: directory,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const report = await new Response(lint.stdout).text()
    await lint.exited
    const { totals, problems } = JSON.parse(report)
    return { clean: totals.errors + totals.warnings === 0, report: problems.map(describeProblem).join('\n') }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
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
