/** Durations as the configuration writes them: a whole number and one unit, `"500ms"`, `"10m"`, `"30d"`. */
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds; null if the text is not a duration, or is too long to be counted exactly. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text)
  if (!match) return null
  const durationMs = Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
  return Number.isSafeInteger(durationMs) ? durationMs : null
}

/** The shortest spelling: 600000 becomes `10m`. */
export function formatDuration(durationMs: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (durationMs >= unitMs[unit] && durationMs % unitMs[unit] === 0)
      return `${durationMs / unitMs[unit]}${unit}`
  }
  return `${durationMs}ms`
}
