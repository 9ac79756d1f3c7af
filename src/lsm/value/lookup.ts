/**
 * Lookups by value: entries that have a pair, or a value of a field in a range, newest first.
 *
 * The filter index selects tables, block filters select blocks, the extractor confirms entries, and the shadow check
 * drops what a newer version hides. Places are searched in the order of the newest entry they can hold: a hit is
 * yielded once no remaining place can hold a newer one, and the search ends with the K-th.
 *
 * @see Qader, Cheng and Hristidis, A comparative study of secondary indexing techniques in LSM-based NoSQL databases,
 *   2018, for top-K lookups with embedded filters and zone maps
 */

import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { aborted } from '../errors.ts'
import type { Cancellation } from './attached.ts'
import type { ZoneValue } from './extractor.ts'
import { Hits } from './hits.ts'
import { mayHavePrefix } from './key-prefix.ts'
import type { LookupCondition, LookupSource } from './lookup-source.ts'
import { MemtableSource } from './memtable-source.ts'
import { TableSource } from './table-source.ts'
import type { ValueView } from './value-view.ts'
import type { CandidateTable, Values } from './values.ts'
import { encodeRange, isInRange } from './zone-maps.ts'

export interface LookupOptions {
  /** Maximum number of entries. Default: all. */
  readonly limit?: number | undefined
  /** Oldest first. Default false: newest first. */
  readonly reverse?: boolean | undefined
  /** Only keys with this prefix, a sublevel's for example. Default: all keys. */
  readonly prefix?: Uint8Array | undefined
  /** Aborts the lookup with LEVEL_ABORTED. */
  readonly signal?: Cancellation | undefined
}

export type Entry = [key: Buffer, value: Buffer]

/**
 * Yields the view's entries that have the pair.
 * @param view must not be released before the generator has ended
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR, LEVEL_ABORTED, and what the extractor throws
 */
export async function* lookup(
  values: Values,
  view: ValueView,
  pair: unknown,
  options: LookupOptions = {}
): AsyncGenerator<Entry, void> {
  const { extractor } = values
  const hashes = values.hashesOf([pair])
  const condition: LookupCondition = { kind: 'pair', hashes, positions: values.positionsOf(hashes) }
  yield* search(values, view, condition, options, (key, value) => extractor.matches(pair, key, value))
}

/**
 * Yields the view's entries with a value of the field in [low, high]; an undefined bound is open. Numbers order before
 * strings.
 * @throws as lookup()
 */
export async function* rangeLookup(
  values: Values,
  view: ValueView,
  field: string,
  low: ZoneValue | undefined,
  high: ZoneValue | undefined,
  options: LookupOptions = {}
): AsyncGenerator<Entry, void> {
  const { extractor } = values
  const range = { low, high }
  const condition: LookupCondition = { kind: 'range', field, range, encoded: encodeRange(range) }
  yield* search(values, view, condition, options, (key, value) =>
    extractor.zoneValues(field, key, value).some((found) => isInRange(found, range))
  )
}

/** Loads missing filters, yielding to the event loop as needed. */
export async function loadFilters(values: Values, view: ValueView, signal?: Cancellation): Promise<void> {
  while (!values.load(view, isTurnLong)) await yieldTurn(signal)
}

async function* search(
  values: Values,
  view: ValueView,
  condition: LookupCondition,
  options: LookupOptions,
  matches: (key: Uint8Array, value: Uint8Array) => boolean
): AsyncGenerator<Entry, void> {
  const { limit = Number.POSITIVE_INFINITY, reverse: isReverse = false, prefix = new Uint8Array(0), signal } = options
  throwIfAborted(signal)
  if (limit <= 0) return
  values.follow(view)
  if (!values.isLoaded(view)) await loadFilters(values, view, signal)

  const hits = new Hits(view, { limit, isReverse, prefix, matches })
  let taken = 0
  for (const { place, bound } of ranked(sourcesOf(values, view, condition, prefix), hits, isReverse)) {
    for (let hit = hits.takeAbove(bound); hit !== undefined; hit = hits.takeAbove(bound)) {
      yield [hit.key, hits.valueOf(hit)]
      if (++taken >= limit) return
      if (isTurnLong()) await yieldTurn(signal)
    }
    if (bound <= hits.threshold) break
    for (const _ of place.search(hits)) if (isTurnLong()) await yieldTurn(signal)
  }
  for (let hit = hits.takeAbove(Number.NEGATIVE_INFINITY); hit !== undefined && taken < limit; taken++) {
    yield [hit.key, hits.valueOf(hit)]
    if (isTurnLong()) await yieldTurn(signal)
    hit = hits.takeAbove(Number.NEGATIVE_INFINITY)
  }
}

function sourcesOf(values: Values, view: ValueView, condition: LookupCondition, prefix: Uint8Array): LookupSource[] {
  const sources: LookupSource[] = []
  for (const { memtable } of view.buffers) {
    if (!memtable.isEmpty) sources.push(new MemtableSource(memtable, values, condition))
  }
  for (const candidate of candidatesFor(values, view, condition)) {
    const { meta } = candidate
    if (meta.smallestSequence > view.sequence || !mayHavePrefix(meta.smallest, meta.largest, prefix)) continue
    sources.push(new TableSource(candidate, values, view, condition))
  }
  return sources
}

function candidatesFor(values: Values, view: ValueView, condition: LookupCondition): CandidateTable[] {
  if (condition.kind === 'pair') return values.candidates(view, condition.positions)
  return values
    .allTables(view)
    .filter(({ values: known }) => known?.mayHaveInRange(condition.field, condition.encoded) ?? true)
}

/** The places with an upper bound on the rank of their entries, best first. */
function ranked(
  sources: readonly LookupSource[],
  hits: Hits,
  isReverse: boolean
): { place: LookupSource; bound: number }[] {
  return sources
    .map((place) => ({ place, bound: hits.rankOf(isReverse ? place.smallestSequence : place.largestSequence) }))
    .sort((a, b) => b.bound - a.bound)
}

async function yieldTurn(signal: Cancellation | undefined): Promise<void> {
  await nextTurn()
  throwIfAborted(signal)
}

function throwIfAborted(signal: Cancellation | undefined): void {
  if (signal?.aborted === true) throw aborted(signal.reason)
}
