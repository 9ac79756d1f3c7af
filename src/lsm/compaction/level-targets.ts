/**
 * Target sizes of a partition's levels.
 *
 * Sizes are computed from the bottom: the last level is as large as the data, each level above it a tenth, and the
 * first one that would be smaller than level 1's target is the *base level*, into which level 0 is merged. So a small
 * partition has only level 0 and the last level; no level is ever rewritten merely because the levels below it are
 * still empty. (RocksDB calls this dynamic level bytes.)
 */

/** Size of a level relative to the one above it. */
const levelRatio = 10

export interface LevelTargets {
  /** The level that level 0 is merged into; levels in between are empty or to be emptied. */
  readonly base: number
  /** Target bytes per level. Level 0 and the last level have none: Infinity. */
  readonly bytes: readonly number[]
}

/** @param levelBytes bytes of a partition's tables per level, including level 0 */
export function levelTargets(levelBytes: readonly number[], level1Bytes: number): LevelTargets {
  const last = levelBytes.length - 1
  const bytes = levelBytes.map(() => Number.POSITIVE_INFINITY)
  // Data that has not sunk to the last level counts, too: the largest level will become the last.
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
