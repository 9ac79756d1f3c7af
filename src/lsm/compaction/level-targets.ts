/**
 * How large the levels of a partition should be.
 *
 * Sizes are counted from the bottom: the last level is as large as the data, each level above it a tenth, and the first
 * one that would be smaller than level 1's target is the *base level*, into which level 0 is merged. A small partition
 * so has level 0 and the last level and nothing between; no level is ever rewritten merely because the levels below
 * it are still empty. (RocksDB calls this dynamic level bytes.)
 */

/** Bytes of a level relative to the one above it. */
export const levelRatio = 10

export interface LevelTargets {
  /** The level that level 0 is merged into; levels between are empty, or are to be emptied. */
  readonly base: number
  /** Target bytes per level. Level 0 and the last level have none: Infinity. */
  readonly bytes: readonly number[]
}

/** @param levelBytes bytes of a partition's tables per level, level 0 included */
export function levelTargets(levelBytes: readonly number[], level1Bytes: number): LevelTargets {
  const last = levelBytes.length - 1
  const bytes = levelBytes.map(() => Number.POSITIVE_INFINITY)
  // Data that has not come down yet counts too: what is largest will be the last level.
  let size = Math.max(...levelBytes.slice(1))
  let base = last
  while (base > 1 && size > level1Bytes) {
    base--
    size = Math.max(level1Bytes, size / levelRatio)
    bytes[base] = size
    if (size === level1Bytes) break
  }
  for (let level = 1; level < base; level++) bytes[level] = 0
  return { base, bytes }
}
