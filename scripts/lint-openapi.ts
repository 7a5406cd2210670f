/**
 * Lints an OpenAPI document with the strictest rules of @redocly/cli, and some that they leave out.
 * `bun scripts/lint-openapi.ts http://localhost:8080/swagger/json` asks a running service for its document.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const program = join(import.meta.dir, '../node_modules/.bin/redocly')

const rules = {
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-duplicated-tag-names': 'error',
  'no-required-schema-properties-undefined': 'error',
  'no-schema-type-mismatch': 'error',
  'operation-tag-defined': 'error',
}

/** The linter's report; `clean` if it is empty. */
export async function lintOpenapi(document: unknown): Promise<{ clean: boolean; report: string }> {
  const cwd = await mkdtemp(join(tmpdir(), 'poterne-openapi-'))
  try {
    await Bun.write(join(cwd, 'redocly.yaml'), JSON.stringify({ extends: ['recommended-strict'], rules }))
    await Bun.write(join(cwd, 'openapi.json'), JSON.stringify(document))
    const lint = Bun.spawn([program, 'lint', '--format', 'json', 'openapi.json'], {
      cwd,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const { problems } = JSON.parse(await new Response(lint.stdout).text()) as { problems: Problem[] }
    return { clean: problems.length === 0, report: problems.map(describeProblem).join('\n') }
  } finally {
    await rm(cwd, { recursive: true, force: true })
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
