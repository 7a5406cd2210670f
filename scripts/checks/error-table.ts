/** README.md and docs/errors.md list every error code with its status, and no page lists one that does not exist. */
import { errorStatus, fieldErrorCodes } from '../../src/texts/errors.ts'
import { type Check, readFiles } from './source-files.ts'

/** Rows like "| `invalid_code` | 422 | …", also with several codes in the first cell. */
const row = /^\|((?:[ ,]*`[a-z_]+`)+) *\| *(\d{3}) *\|/gm

export const checkErrorTable: Check = async () => {
  const pages = [...(await readFiles('README.md')), ...(await readFiles('docs/**/*.md'))]
  return compareErrorTable(pages, errorStatus, fieldErrorCodes)
}

export function compareErrorTable(
  pages: { path: string; text: string }[],
  statuses: Record<string, number>,
  fieldCodes: readonly string[],
): string[] {
  const documented = pages.flatMap(({ path, text }) =>
    [...text.matchAll(row)].flatMap(([, codes, status]) =>
      [...(codes as string).matchAll(/`([a-z_]+)`/g)].map(([, code]) => ({
        path,
        code: code as string,
        status: Number(status),
      })),
    ),
  )
  const wrong = documented
    .filter(({ code, status }) => statuses[code] !== status)
    .map(
      ({ path, code, status }) => `${path}: ${code} is ${statuses[code] ?? 'no error code'}, not ${status}`,
    )
  const missing = Object.keys(statuses).flatMap((code) =>
    ['README.md', 'docs/errors.md']
      .filter((path) => !documented.some((each) => each.code === code && each.path === path))
      .map((path) => `the table of ${path} lacks the error code ${code}`),
  )
  const missingFields = fieldCodes.filter((code) => !pages.some(({ text }) => text.includes(`\`${code}\``)))
  return [
    ...wrong,
    ...missing,
    ...missingFields.map((code) => `neither README.md nor docs/ names the field error ${code}`),
  ]
}
