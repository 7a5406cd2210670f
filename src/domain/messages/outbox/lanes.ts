/** The lanes of the outbox, by number: column `lane`. Messages of strangers never delay those that owners wait for. */
export const LANES = { owner: 0, password: 0, stranger: 1 }
/** Messages to nobody, which are deleted. */
export const DECOYS_LANE = 2

export const isCausedByStranger = ({ lane }: { lane: number }): boolean => lane === LANES.stranger
