/**
 * The index of a collection whose ordinals come in any order and are reused when a document is written again.
 *
 * Segments are built from documents in ordinal order, whatever the gaps between them. Later versions are indexed in
 * memory, in the order of their arrival (recent-versions.ts); when they have become many (policy.ts), the segments whose
 * ordinals they touch are rebuilt together with them.
 *
 * Invariants:
 * 1. A document is live in one place: its built segment, or the recent versions.
 * 2. The batch that writes or deletes a document marks its ordinal. A mark says that the built segments are outdated
 *    for the document: opening re-reads the marked documents. Marks are deleted after the exchange that publishes the
 *    rebuilt segments: a mark deleted too late costs re-reading a document, never a wrong result.
 * 3. A version becomes visible when its batch is committed, and the version it replaces disappears before control
 *    returns to the event loop.
 */

import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { AcceptedForm, JsonForm } from '../byte-scan/json-form.ts'
import type {
  DocumentIndex,
  DocumentSource,
  IndexRebuild,
  IndexStats,
  IndexTuning,
  IndexView,
  IndexWrite,
  OrdinalRange,
  Placement
} from '../document-index.ts'
import { OrdinalSet } from '../ordinal-set.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import { CheckedStore } from '../records/checked-store.ts'
import { decodeHeader } from '../records/index-header.ts'
import { IndexArea, indexKey, ordinalOf, recordsOf } from '../records/index-keys.ts'
import { ShardedIndex } from '../sharded-index.ts'
import type { ShardedIndexOptions } from '../sharded-index-options.ts'
import type { StoredChoice } from '../tune/stored-choice.ts'
import { isMergeDue, isWorthMergingOnClose, spanOf } from './policy.ts'
import { type DocumentsAt, RecentVersions } from './recent-versions.ts'
import { ScatteredView } from './scattered-view.ts'

export interface ScatteredIndexOptions extends ShardedIndexOptions {
  /** Every ordinal is below it. */
  readonly size: number
  readonly documentsAt: DocumentsAt
  /** If true, nothing is merged. */
  readonly isReadOnly: boolean
}

const marksPerBatch = 4096
const cacheBytesOfRecent = 32 << 20

export class ScatteredIndex implements DocumentIndex {
  readonly #options: ScatteredIndexOptions
  readonly #built: ShardedIndex
  onMaintenanceDue: (() => Promise<void>) | undefined
  /** The last one takes new versions; those before it are being merged. */
  #recent: RecentVersions[] = []
  /** Ordinals with a mark in the store. */
  #marked = new Set<number>()
  #isOpen = false
  #isRebuilding = false
  #recovered = 0
  readonly #damage: string[] = []

  constructor(options: ScatteredIndexOptions) {
    this.#options = options
    const { documents } = options
    // While opening, segments must not look for documents in the gaps between them: those are among the recent
    // versions.
    const source: DocumentSource = {
      read: (from, to) => (this.#isOpen ? documents.read(from, to) : nothing()),
      ...(documents.stored && { stored: documents.stored })
    }
    this.#built = new ShardedIndex({ ...options, documents: source })
  }

  async open(nextVersion: number, documents: number): Promise<void> {
    const hasChangedOptions = await this.#hasChangedOptions()
    await this.#built.open(0, 0)
    try {
      await this.#openMarked(nextVersion, documents, hasChangedOptions)
    } catch (error) {
      for (const recent of this.#recent) recent.retire()
      this.#built.discard()
      throw error
    }
  }

  /**
   * Re-reads what was written since the segments were built.
   * @param hasChangedOptions the index starts over, because the caller chose other options than the stored ones
   */
  async #openMarked(nextVersion: number, documents: number, hasChangedOptions: boolean): Promise<void> {
    this.#isOpen = true
    for await (const [key] of this.#options.store.scan(...recordsOf(IndexArea.written))) {
      const ordinal = ordinalOf(key)
      if (ordinal !== undefined) this.#marked.add(ordinal)
    }
    for (const ordinal of this.#marked) this.#built.remove(ordinal)
    const recent = await this.#openRecent(nextVersion - this.#marked.size)
    this.#recent = [recent]
    await this.#recover(recent, nextVersion - this.#marked.size)
    if (this.liveCount() === documents) return
    if (hasChangedOptions) this.#recovered = documents
    else this.#damage.push(`The index has ${this.liveCount()} live documents, but the store has ${documents}`)
    await this.#rebuildNow(nextVersion, undefined)
  }

  flatten(document: Document): FlatDocument {
    return this.#current.flatten(document)
  }

  add(version: number, flat: FlatDocument): void {
    this.#current.add(version, flat)
  }

  addBytes(version: number, bytes: Uint8Array, offset: number, length: number, form?: JsonForm): AcceptedForm {
    return this.#current.addBytes(version, bytes, offset, length, form)
  }

  readonly placement: Placement = {
    place: (version, ordinal) => {
      this.#current.place(version, ordinal)
      return this.removal(ordinal)
    },
    withdraw: (version) => this.#current.withdraw(version),
    commit: (limit) => {
      for (const ordinal of this.#current.commit(limit)) {
        this.#marked.add(ordinal)
        this.#built.remove(ordinal)
        for (const recent of this.#recent) if (recent !== this.#current) recent.remove(ordinal)
      }
    }
  }

  removal(ordinal: number): IndexWrite {
    return { key: indexKey(IndexArea.written, ordinal), value: new Uint8Array(0) }
  }

  remove(ordinal: number): void {
    this.#marked.add(ordinal)
    this.#built.remove(ordinal)
    for (const recent of this.#recent) recent.remove(ordinal)
  }

  get isMaintenanceDue(): boolean {
    return (
      this.#isMergeDue || this.#built.isMaintenanceDue || this.#recent.some(({ isMaintenanceDue }) => isMaintenanceDue)
    )
  }

  async maintain(limit: number): Promise<void> {
    for (const recent of this.#recent) if (recent.isMaintenanceDue) await recent.maintain()
    if (this.#built.isMaintenanceDue) await this.#built.maintain(this.#options.size)
    if (this.#isMergeDue) await this.#rebuildNow(limit, spanOf(this.#recent))
  }

  async close(limit: number): Promise<void> {
    try {
      const span = spanOf(this.#recent)
      const { parameters } = this.#built.stats()
      const isWorthMerging = isWorthMergingOnClose(this.#recentSize, this.#segmentDocuments, span, parameters)
      if (isWorthMerging && !this.#options.isReadOnly) await this.#rebuildNow(limit, span)
    } finally {
      for (const recent of this.#recent) recent.retire()
      await this.#built.close(this.#options.size)
    }
  }

  capture(_limit: number, hidden = OrdinalSet.empty): IndexView {
    const { size } = this.#options
    return new ScatteredView(
      this.#built.capture(size, hidden),
      this.#recent.map((recent) => recent.capture(hidden)),
      size
    )
  }

  liveCount(): number {
    return this.#built.liveCount(this.#options.size) + this.#recentSize
  }

  get tuning(): IndexTuning {
    return this.#built.tuning
  }

  retune(choice: StoredChoice): Promise<void> {
    return this.#built.retune(choice)
  }

  beginRebuild(limit: number): Promise<IndexRebuild> {
    return this.#begin(limit, { from: 0, to: this.#options.size })
  }

  stats(): IndexStats {
    const built = this.#built.stats()
    const recent = this.#recent.map((each) => each.stats())
    const sum = (of: (stats: IndexStats) => number): number =>
      recent.reduce((total, each) => total + of(each), of(built))
    return {
      ...built,
      segments: sum(({ segments }) => segments),
      documents: sum(({ documents }) => documents),
      dead: sum(({ dead }) => dead),
      recovered: this.#recovered,
      damage: [...built.damage, ...this.#damage],
      parameters: [...built.parameters, ...recent.flatMap(({ parameters }) => parameters)]
    }
  }

  get #current(): RecentVersions {
    return this.#recent.at(-1)!
  }

  get #recentSize(): number {
    return this.#recent.reduce((sum, { size }) => sum + size, 0)
  }

  get #segmentDocuments(): number {
    return this.#built.tuning.segmentDocuments
  }

  get #isMergeDue(): boolean {
    return !this.#isRebuilding && isMergeDue(this.#recentSize, this.#segmentDocuments, this)
  }

  /** Whether the stored index is sound but rebuilt, because the caller chose another segment size or hash. */
  async #hasChangedOptions(): Promise<boolean> {
    const stored = await new CheckedStore(this.#options.store).get(indexKey(IndexArea.header))
    return decodeHeader(stored, this.#options).header === undefined && decodeHeader(stored, {}).header !== undefined
  }

  /** Opens an empty set of recent versions, with the parameters that tune() chose, if it did. */
  async #openRecent(firstVersion: number): Promise<RecentVersions> {
    const options = { ...this.#built.tuning, cacheBytes: cacheBytesOfRecent }
    const recent = await RecentVersions.open(options, firstVersion, this.#options.documentsAt)
    recent.onMaintenanceDue = async () => this.onMaintenanceDue?.()
    return recent
  }

  /** Indexes the marked documents again, as versions from `version` on. */
  async #recover(recent: RecentVersions, version: number): Promise<void> {
    const ordinals = [...this.#marked].sort((a, b) => a - b)
    let next = version
    const timeSlice = new TimeSlice()
    for (let start = 0; start < ordinals.length; start += marksPerBatch / 16) {
      const run = ordinals.slice(start, start + marksPerBatch / 16)
      for (const [i, document] of (await this.#options.documentsAt(run)).entries()) {
        // Deleted, or rewritten by a later batch: only the current state matters.
        if (document === undefined) continue
        recent.add(next, recent.flatten(document))
        recent.place(next++, run[i]!)
        this.#recovered++
        if (timeSlice.isOver()) await timeSlice.renew()
      }
      recent.commit(next)
      if (recent.isMaintenanceDue) await recent.maintain()
    }
    recent.commit(version + ordinals.length)
  }

  /** REQUIRES: nobody writes until it resolves. @param span of ordinals; undefined rebuilds all, counts unchecked */
  async #rebuildNow(limit: number, span: OrdinalRange | undefined): Promise<void> {
    const rebuild = await this.#begin(limit, span)
    try {
      await rebuild.build()
      await rebuild.publish()
    } finally {
      await rebuild.end()
    }
  }

  async #begin(limit: number, span: OrdinalRange | undefined): Promise<IndexRebuild> {
    const { size } = this.#options
    const replaced = this.#recent
    const marked = this.#marked
    const others = span && ((): number => replaced.reduce((sum, recent) => sum + recent.size, 0))
    const next = await this.#openRecent(limit)
    const rebuild = await this.#built.beginRebuildOf({ ...(span ?? { from: 0, to: size }), others }, size)
    this.#recent = [...replaced, next]
    this.#marked = new Set()
    this.#isRebuilding = true
    let isPublished = false
    return {
      build: (signal, onProgress) => rebuild.build(signal, onProgress),
      publish: async () => {
        await rebuild.publish()
        isPublished = true
        this.#recent = this.#recent.filter((recent) => !replaced.includes(recent))
        for (const recent of replaced) recent.retire()
        // Documents may have been deleted in segments that were not replaced.
        await this.#built.storeDead()
        await this.#clearMarks([...marked].filter((ordinal) => !this.#marked.has(ordinal)))
      },
      end: async () => {
        this.#isRebuilding = false
        if (!isPublished) for (const ordinal of marked) this.#marked.add(ordinal)
        await rebuild.end()
      }
    }
  }

  async #clearMarks(ordinals: readonly number[]): Promise<void> {
    for (let start = 0; start < ordinals.length; start += marksPerBatch) {
      const run = ordinals.slice(start, start + marksPerBatch)
      await this.#options.store.write(
        run.map((ordinal) => ({ key: indexKey(IndexArea.written, ordinal), value: undefined }))
      )
    }
  }
}

async function* nothing(): AsyncGenerator<never> {}
