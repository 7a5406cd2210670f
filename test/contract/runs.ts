/** The number of runs of the property tests: `POTERNE_SOAK=1` makes them twenty times as long. */
export function runsOf(short: number): number {
  return process.env.POTERNE_SOAK === '1' ? short * 20 : short
}
