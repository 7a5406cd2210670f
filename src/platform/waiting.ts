/** The two ways to wait that several places have in common: for what others wait for too, and not for ever. */

/** Returns a function whose callers share one call of `work`: those who call while it is under way get its promise. */
export function together<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  let underWay: Promise<Result> | null = null
  const call = (...args: Args): Promise<Result> => {
    underWay ??= work(...args).finally(() => {
      underWay = null
    })
    return underWay
  }
  return Object.assign(call, { underWay: () => underWay })
}

/** Gives `late` where the work takes longer; the work goes on. */
export async function within<Result, Late>(ms: number, work: Promise<Result>, late: Late) {
  let timer: Timer | undefined
  const end = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, ms, late)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}
