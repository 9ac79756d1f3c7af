/**
 * Finds where in the key space entries with certain pairs may be, for a planner to ask before it reads anything.
 *
 * The answer rules out exactly what the filters rule out for this view: a key outside all ranges holds no entry with
 * all of the pairs. The ranges are those of tables that may hold such entries, including tables about which nothing is
 * known, and single keys from memtables. The answer holds for the given view, not for later writes.
 */
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { compareKeys, EntryRecord } from '../format/entry.ts'
import type { Cancellation } from './attached.ts'
import { mayHavePrefix } from './key-prefix.ts'
import { loadFilters } from './lookup.ts'
import type { ValueView } from './value-view.ts'
import type { Values } from './values.ts'

export interface KeyRanges {
  /** Ascending, not overlapping; ranges from tables may extend beyond the prefix. */
  readonly ranges: readonly KeyInterval[]
  /** Number of tables that may have keys with the prefix. */
  readonly tables: number
  /** Number of those that were ruled out. */
  readonly pruned: number
}

/** Both bounds are inclusive. */
export interface KeyInterval {
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
}

export interface KeyRangesOptions {
  /** Only keys with this prefix. Default: all keys. */
  readonly prefix?: Uint8Array | undefined
  readonly signal?: Cancellation | undefined
}

/**
 * @param pairs an entry must have all of them; none: any entry
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR, LEVEL_ABORTED
 */
export async function keyRanges(
  values: Values,
  view: ValueView,
  pairs: readonly unknown[],
  { prefix = new Uint8Array(0), signal }: KeyRangesOptions = {}
): Promise<KeyRanges> {
  values.follow(view)
  const hashes = values.hashesOf(pairs)
  const positions = values.positionsOf(hashes)
  await loadFilters(values, view, signal)

  const found: KeyInterval[] = []
  let kept = 0
  for (const candidate of values.candidates(view, positions)) {
    const { smallest, largest } = candidate.meta
    if (!mayHavePrefix(smallest, largest, prefix)) continue
    if (values.mayHold(candidate, view, positions)) {
      found.push({ smallest, largest })
      kept++
    }
    if (isTurnLong()) await nextTurn()
  }
  for (const { memtable } of view.buffers) {
    const index = values.memtableIndex(memtable)
    while (!index.update(performance.now() + 2)) await nextTurn()
    const entry = new EntryRecord()
    for (const number of index.entriesWithAll(hashes)) {
      memtable.entryAt(number, entry)
      if (entry.sequence > view.sequence) continue
      const key = entry.keyBytes.slice(entry.keyStart, entry.keyEnd)
      if (mayHavePrefix(key, key, prefix)) found.push({ smallest: key, largest: key })
    }
  }
  const tables = countTables(view, prefix)
  return { ranges: mergeRanges(found), tables, pruned: tables - kept }
}

/** Merges overlapping ranges. */
export function mergeRanges(ranges: readonly KeyInterval[]): KeyInterval[] {
  const united: KeyInterval[] = []
  for (const range of [...ranges].sort((a, b) => compareKeys(a.smallest, b.smallest))) {
    const last = united.at(-1)
    if (last === undefined || compareKeys(range.smallest, last.largest) > 0) {
      united.push(range)
    } else if (compareKeys(range.largest, last.largest) > 0) {
      united[united.length - 1] = { smallest: last.smallest, largest: range.largest }
    }
  }
  return united
}

function countTables(view: ValueView, prefix: Uint8Array): number {
  let count = 0
  for (const tables of view.version.levels) {
    for (const { smallest, largest } of tables) if (mayHavePrefix(smallest, largest, prefix)) count++
  }
  return count
}
