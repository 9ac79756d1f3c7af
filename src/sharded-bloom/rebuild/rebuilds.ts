/**
 * Manages the rebuilds of one index: at most one at a time, and the leftovers of replaced segments.
 *
 * Invariant: the records of a replaced segment stay until the last view that reads it has closed.
 */
import { PetalError } from '../../model/errors.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import { firstRebuilt, IndexArea, indexKey } from '../records/index-keys.ts'
import type { Geometry } from '../segment/geometry.ts'
import type { SegmentHandle } from '../segment/segment-handle.ts'
import { Leftovers, rangesFrom } from './leftovers.ts'
import { Rebuild, type RebuildContext, type RebuildRange } from './rebuild.ts'
import type { RemoteBuilder } from './remote-builder.ts'

export class Rebuilds {
  /** Segments of the index, in ordinal order. */
  readonly #handles: SegmentHandle[]
  readonly #store: IndexStore
  readonly #leftovers: Leftovers
  /** Replaced, but still read by views. */
  readonly #retired = new Set<SegmentHandle>()
  #current: Rebuild | undefined
  #nextNumber = firstRebuilt
  /** Whether the store is known to have nothing under these numbers, and no traces of it. */
  #isUnused = false
  /** Resolves when the records of replaced segments without readers are deleted. */
  #clearing: Promise<void> = Promise.resolve()

  constructor(store: IndexStore, handles: SegmentHandle[]) {
    this.#handles = handles
    this.#store = store
    this.#leftovers = new Leftovers(store)
  }

  /** Deletes what a crash left. What cannot be deleted, as in a read-only database, waits for the next open. */
  async clearLeftovers(): Promise<void> {
    await this.#leftovers.load()
    const used = new Set(this.#handles.map(({ storedAt }) => storedAt))
    for (const number of [...used, ...this.#leftovers.numbers]) {
      this.#nextNumber = Math.max(this.#nextNumber, number + 1)
    }
    for (const number of this.#leftovers.numbers) {
      if (!used.has(number)) await this.#leftovers.clear(number).catch(() => {})
    }
  }

  /** Whether a rebuild is running. */
  get isBuilding(): boolean {
    return this.#current !== undefined
  }

  /** @throws PetalError IllegalOperation while a rebuild is running */
  assertNone(): void {
    if (this.isBuilding) throw new PetalError('IllegalOperation', 'The index is already being rebuilt')
  }

  /**
   * Begins a rebuild of all segments, or of the sealed ones that a range of ordinals touches. REQUIRES: assertNone(), and
   * that the last segment takes no more documents
   */
  begin(
    context: Omit<RebuildContext, 'leftovers' | 'takeNumber' | 'replace' | 'onEnd'>,
    range?: RebuildRange
  ): Rebuild {
    const sealed = this.#handles.filter(({ open }) => open === undefined)
    const replaced = range === undefined ? [...this.#handles] : touchedBy(sealed, range, context.geometry)
    this.#current = new Rebuild(
      {
        ...context,
        leftovers: this.#leftovers,
        takeNumber: (remote) => this.#takeNumber(remote),
        replace: (replaced, built, numbers, writes) => this.replace(replaced, built, numbers, writes),
        onEnd: () => {
          this.#current = undefined
        }
      },
      replaced,
      range
    )
    return this.#current
  }

  noteRemoved(ordinal: number): void {
    this.#current?.noteRemoved(ordinal)
  }

  /** Resolves when no deletion is in progress. */
  whenIdle(): Promise<void> {
    return this.#clearing
  }

  free(): void {
    for (const { segment } of this.#retired) segment.free()
    this.#retired.clear()
  }

  /**
   * Returns a number for a segment's records that no other segment has. For one built remotely, nobody must have had it:
   * earlier processes may have built segments that were never published, and were deleted.
   */
  async #takeNumber(remote: RemoteBuilder | undefined): Promise<number> {
    if (remote !== undefined && !this.#isUnused) {
      while (!(await remote.isUnused(rangesFrom(this.#nextNumber)))) this.#nextNumber++
      this.#isUnused = true
    }
    return this.#nextNumber++
  }

  /**
   * Replaces segments in one batch.
   * @param numbers numbers that were taken for the built ones
   * @param writes makes the built ones part of the index
   */
  async replace(
    replaced: readonly SegmentHandle[],
    built: readonly SegmentHandle[] = [],
    numbers: readonly number[] = [],
    writes: readonly IndexWrite[] = []
  ): Promise<void> {
    // A segment that was never stored may have ordinals, and thus a key, that will be given to others.
    const stored = replaced.filter(({ checkpointed }) => checkpointed > 0)
    const deletions = stored.map(({ firstOrdinal }): IndexWrite => {
      return { key: indexKey(IndexArea.segment, firstOrdinal), value: undefined }
    })
    await this.#leftovers.exchange(
      numbers,
      replaced.map(({ storedAt }) => storedAt),
      // Order matters: a segment with the same first ordinal as a replaced one is written after that one is deleted.
      (list) => this.#store.write([...deletions, ...writes, list])
    )
    const left = new Set(replaced)
    const stay = this.#handles.filter((handle) => !left.has(handle))
    const all = [...stay, ...built].sort((a, b) => a.firstOrdinal - b.firstOrdinal)
    this.#handles.splice(0, this.#handles.length, ...all)
    for (const handle of replaced) {
      this.#retired.add(handle)
      handle.retire(() => {
        if (!this.#retired.delete(handle)) return
        handle.segment.free()
        // Records that could not be deleted stay listed as leftovers, and are deleted by the next open.
        this.#clearing = this.#clearing.then(() => this.#leftovers.clear(handle.storedAt)).catch(() => {})
      })
    }
  }
}

/** Returns the segments in the range, plus the preceding one if it is small: small ones would accumulate. */
function touchedBy(
  handles: readonly SegmentHandle[],
  { from, to }: RebuildRange,
  { segmentDocuments }: Geometry
): readonly SegmentHandle[] {
  let first = handles.findIndex(({ endOrdinal }) => endOrdinal > from)
  if (first < 0) first = handles.length
  const before = handles[first - 1]
  if (before !== undefined && before.segment.documents < segmentDocuments / 2) first--
  return handles.slice(first).filter(({ firstOrdinal }) => firstOrdinal < to)
}
