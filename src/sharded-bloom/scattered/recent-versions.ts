/**
 * The versions written since the last merge, indexed in memory in the order of their arrival.
 *
 * A version has a slot here, and its document an ordinal; slots only grow. A document that is written again gets
 * another slot, and its previous slot is dead.
 *
 * Invariant: every ordinal has at most one live slot, that of its last committed version.
 */
import type { Document } from '../../model/types.ts'
import type { AcceptedForm, JsonForm } from '../byte-scan/json-form.ts'
import type { DocumentIndex, DocumentSource, IndexStats, IndexView } from '../document-index.ts'
import { OrdinalSet } from '../ordinal-set.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import { ShardedIndex } from '../sharded-index.ts'
import type { ShardedIndexOptions } from '../sharded-index-options.ts'
import { MemoryStore } from '../tune/memory-store.ts'

/** Reads documents by ordinal, undefined for those that do not exist. */
export type DocumentsAt = (ordinals: readonly number[]) => Promise<readonly (Document | undefined)[]>

export type RecentOptions = Omit<ShardedIndexOptions, 'store' | 'documents'>

/** A view of recent versions, and the ordinal of each slot's document. */
export interface RecentView {
  readonly index: IndexView
  ordinalOf(slot: number): number
  close(): void
}

const withdrawn = -1
const documentsPerRead = 256

export class RecentVersions {
  readonly #index: DocumentIndex
  readonly #documentsAt: DocumentsAt
  /** The version in slot 0. */
  readonly #firstVersion: number
  readonly #ordinals: number[] = []
  /** Live slots by ordinal. */
  readonly #slots = new Map<number, number>()
  /** Slots below it are committed. */
  #visible = 0
  #views = 0
  #isRetired = false

  private constructor(options: RecentOptions, firstVersion: number, documentsAt: DocumentsAt) {
    this.#firstVersion = firstVersion
    this.#documentsAt = documentsAt
    const source: DocumentSource = { read: (from, to) => this.#read(from, to) }
    this.#index = new ShardedIndex({ ...options, store: new MemoryStore(), documents: source })
  }

  static async open(options: RecentOptions, firstVersion: number, documentsAt: DocumentsAt): Promise<RecentVersions> {
    const recent = new RecentVersions(options, firstVersion, documentsAt)
    await recent.#index.open(0, 0)
    return recent
  }

  /** Number of live documents. */
  get size(): number {
    return this.#slots.size
  }

  get ordinals(): Iterable<number> {
    return this.#slots.keys()
  }

  get isMaintenanceDue(): boolean {
    return this.#index.isMaintenanceDue
  }

  /** See DocumentIndex. */
  set onMaintenanceDue(ask: () => Promise<void>) {
    this.#index.onMaintenanceDue = ask
  }

  flatten(document: Document): FlatDocument {
    return this.#index.flatten(document)
  }

  /** Declares the last added version to be of the document at this ordinal. */
  place(version: number, ordinal: number): void {
    this.#ordinals[version - this.#firstVersion] = ordinal
  }

  add(version: number, flat: FlatDocument): void {
    this.#index.add(version - this.#firstVersion, flat)
  }

  addBytes(version: number, bytes: Uint8Array, offset: number, length: number, form?: JsonForm): AcceptedForm {
    return this.#index.addBytes?.(version - this.#firstVersion, bytes, offset, length, form) ?? false
  }

  /** Withdraws a version that is not committed. */
  withdraw(version: number): void {
    const slot = version - this.#firstVersion
    this.#ordinals[slot] = withdrawn
    this.#index.remove(slot)
  }

  /** Marks versions below `limit` committed. @returns the ordinals of the newly committed ones */
  commit(limit: number): readonly number[] {
    const from = this.#visible
    this.#visible = Math.max(from, limit - this.#firstVersion)
    const ordinals: number[] = []
    for (let slot = from; slot < this.#visible; slot++) {
      const ordinal = this.#ordinals[slot]
      if (ordinal === undefined || ordinal === withdrawn) continue
      this.remove(ordinal)
      this.#slots.set(ordinal, slot)
      ordinals.push(ordinal)
    }
    return ordinals
  }

  /** Removes a document that was deleted or is now indexed elsewhere. */
  remove(ordinal: number): void {
    const slot = this.#slots.get(ordinal)
    if (slot === undefined) return
    this.#slots.delete(ordinal)
    this.#index.remove(slot)
  }

  maintain(): Promise<void> {
    return this.#index.maintain(this.#visible)
  }

  /** @param hidden ordinals of documents that the view does not show */
  capture(hidden: OrdinalSet): RecentView {
    this.#views++
    const slots = OrdinalSet.empty.with([...hidden].flatMap((ordinal) => this.#slots.get(ordinal) ?? []))
    const index = this.#index.capture(this.#visible, slots)
    const ordinals = this.#ordinals
    return {
      index,
      ordinalOf: (slot) => ordinals[slot]!,
      close: () => {
        index.close()
        this.#views--
        this.#closeIfUnused()
      }
    }
  }

  stats(): IndexStats {
    return this.#index.stats()
  }

  /** No view captures it from now on: it closes with the last view. */
  retire(): void {
    this.#isRetired = true
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    // Closing only frees memory: nothing that could fail matters.
    if (this.#isRetired && this.#views === 0) this.#index.close(this.#visible).catch(() => undefined)
  }

  /** Re-reads documents when the index chooses parameters. */
  async *#read(from: number, to: number): AsyncGenerator<readonly [number, Document]> {
    for (let start = from; start < to; start += documentsPerRead) {
      const slots: number[] = []
      for (let slot = start; slot < Math.min(to, start + documentsPerRead); slot++) {
        if (this.#slots.get(this.#ordinals[slot]!) === slot) slots.push(slot)
      }
      const documents = await this.#documentsAt(slots.map((slot) => this.#ordinals[slot]!))
      for (const [i, slot] of slots.entries()) {
        const document = documents[i]
        if (document !== undefined) yield [slot, document]
      }
    }
  }
}
