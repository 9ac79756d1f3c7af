/** The merge for compactRange(): everything in a range of keys, from all levels, into the deepest one. */
import { spanOf } from '../compaction/key-span.ts'
import type { Merge, MergeInput } from '../compaction/pick.ts'
import { levelCount } from '../format/version-edit.ts'
import type { Version } from '../version/version.ts'

const lastLevel = levelCount - 1

/** @returns undefined if the range is empty, or is all in the last level with no tombstones to drop */
export function mergeOfRange(version: Version, smallest: Uint8Array, largest: Uint8Array): Merge | undefined {
  const inputs = closure(version, smallest, largest)
  const [first] = inputs
  if (first === undefined) return undefined
  const isWorth = inputs.length > 1 || first.level < lastLevel || first.tables.some((table) => table.tombstones > 0)
  return isWorth ? { kind: 'merge', group: '', inputs, outputLevel: lastLevel } : undefined
}

/** All tables that overlap the range, transitively: including those that overlap the ranges of selected tables. */
function closure(version: Version, smallest: Uint8Array, largest: Uint8Array): readonly MergeInput[] {
  let span = { smallest, largest }
  let known = 0
  for (;;) {
    const inputs: MergeInput[] = []
    for (let level = 0; level < levelCount; level++) {
      const tables = version.overlapping(level, span.smallest, span.largest)
      if (tables.length > 0) inputs.push({ level, tables })
    }
    const tables = inputs.flatMap((input) => input.tables)
    if (tables.length === known) return inputs
    known = tables.length
    span = spanOf(tables) ?? span
  }
}
