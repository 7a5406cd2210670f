/** Recognizes a table of TOML; a date is none. */
export function isTable(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date)
}
