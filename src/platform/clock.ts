/** The one source of time: services take it, stores get `now` as an argument, so that tests can move it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
