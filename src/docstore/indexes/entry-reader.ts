/**
 * Reads the ordinals of index entries, range by range, in the order of the index.
 *
 * Invariant: an ordinal is returned once, at its first entry, and only if the view shows its document.
 */
import type { ReadView } from '../read/read-view.ts'
import { type Steps, wait } from '../read/steps.ts'
import type { IndexAccess } from './choose-access.ts'
import type { EntryIterator, IndexStore } from './index-store.ts'
import type { KeyRange } from './key-ranges.ts'

/** Runs grow, so that a reader that stops early has not read far ahead. */
const firstRunEntries = 32
const maxRunEntries = 1000
const nothing = new Uint8Array(0)

/** Counts the entries read. */
export interface EntryCount {
  keysExamined: number
}

/**
 * Yields ordinals in runs, which may be empty.
 * @param wanted the number of ordinals that will probably be needed
 */
export function* readOrdinals(
  store: IndexStore,
  view: ReadView,
  access: IndexAccess,
  count: EntryCount,
  wanted = Number.POSITIVE_INFINITY
): Steps<number[]> {
  const { index, ranges, reverse } = access
  // A document has a single entry unless a path leads through an array.
  const seen = index.arrays === 0 ? undefined : new Set<number>()
  const take = (ordinal: number, ordinals: number[]): void => {
    if (!view.shows(ordinal) || seen?.has(ordinal)) return
    seen?.add(ordinal)
    ordinals.push(ordinal)
  }
  let runEntries = Math.max(1, Math.min(firstRunEntries, wanted))
  for (let i = 0; i < ranges.length; i++) {
    const range = ranges[reverse ? ranges.length - 1 - i : i]!
    if (access.isUniqueLookup && store.canReadSync) {
      const value = store.value(index.area.key(range.from), view.snapshot)
      if (value === undefined) continue
      const ordinals: number[] = []
      count.keysExamined++
      take(index.ordinalOf(nothing, value), ordinals)
      yield ordinals
      continue
    }
    const iterator = open(store, view, access, range)
    try {
      for (;;) {
        const entries = yield* wait(iterator.nextv(runEntries))
        if (entries.length === 0) break
        count.keysExamined += entries.length
        const ordinals: number[] = []
        for (const [key, value] of entries) take(index.ordinalOf(key, value), ordinals)
        yield ordinals
        runEntries = Math.min(maxRunEntries, runEntries * 2)
      }
    } finally {
      view.closeReader(iterator)
    }
  }
}

function open(store: IndexStore, view: ReadView, { index, reverse }: IndexAccess, range: KeyRange): EntryIterator {
  const how = { reverse, values: index.definition.unique, snapshot: view.snapshot }
  const iterator = store.entries(index.area, range, how)
  view.addReader(iterator)
  return iterator
}
