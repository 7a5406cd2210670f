/** The one source of time. Services take a clock and stores get `now` as an argument, so that tests can move time. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
