import { reduced } from '../helpers/soak.ts'

/** The number of runs of the property tests: a soak makes them twenty times as long. */
export const runsOf = (short: number): number => reduced(short, short * 20)
