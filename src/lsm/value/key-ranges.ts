/**
 * Where in the key space entries with certain pairs may be: what a planner asks before it reads anything.
 *
 * What the answer rules out is exactly what filters say of this view: a key outside all ranges holds no entry that has
 * all of the pairs. Ranges come from tables that may hold them, tables that nothing is known of among these, and from
 * memtables key by key. The answer holds for the view it was asked of, not for what is written later.
 */
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { compareKeys, EntryRecord } from '../format/entry.ts'
import type { Cancellation } from './attached.ts'
import { mayHavePrefix } from './key-prefix.ts'
import { loadFilters } from './lookup.ts'
import type { ValueView } from './value-view.ts'
import type { Values } from './values.ts'

export interface KeyRanges {
  /** Ascending, not overlapping; those of tables may reach beyond the prefix. */
  readonly ranges: readonly KeyInterval[]
  /** Tables that may have keys with the prefix. */
  readonly tables: number
  /** Those of them that were ruled out. */
  readonly pruned: number
}

/** Both ends belong to it. */
export interface KeyInterval {
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
}

export interface KeyRangesOptions {
  /** Only keys that begin so. Default: all keys. */
  readonly prefix?: Uint8Array | undefined
  readonly signal?: Cancellation | undefined
}

/**
 * @param pairs what an entry must have all of; none: any entry
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
  return { ranges: unite(found), tables, pruned: tables - kept }
}

/** Ranges that overlap become one. */
export function unite(ranges: readonly KeyInterval[]): KeyInterval[] {
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
