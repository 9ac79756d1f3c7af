/**
 * The open segment. Documents go straight to their final place: private pairs, found by comparing the pair itself, into
 * rows of their own, a word of positions at a time; all other pairs, by their hashes, into the tail (see tail/).
 *
 * Invariants:
 * 1. A private pair has been private since the segment's first document, so its row is exact.
 * 2. While `isShapeComplete`, every EXISTS and TYPE pair of the segment is private: no document has one that is not in
 *    the table.
 * 3. Bits at positions ≥ a view's limit may appear at any time; evaluation masks them.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { PairHash } from '../pairs/pair-hash.ts'
import { isValueTag, Tag } from '../pairs/pair-tags.ts'
import type { Shape } from '../pairs/shapes.ts'
import type { ColumnSpec } from '../ranges/column-spec.ts'
import type { OpenColumn } from '../ranges/open-column.ts'
import { OpenColumns } from '../ranges/open-columns.ts'
import type { RowPart } from './and-groups.ts'
import type { Geometry } from './geometry.ts'
import { PairTexts } from './pair-texts.ts'
import { PrivateRows } from './private-rows.ts'
import { type HashedPair, PrivateTable } from './private-table.ts'
import { absent, type HashedLocation, type Location, type Segment, type SegmentParameters } from './segment.ts'
import { createOpenTail } from './tail/create-tail.ts'
import type { OpenTail, ScannedHashes } from './tail/tail.ts'
import { allGroups, groupDocumentsOf } from './upper-level.ts'

/** EXISTS, TYPE and irregular pairs become private when first met, up to this many rows in all. */
const maxPrivateRows = 8192
const maxDynamicRows = 2048

/** What documents of one shape have in common, prepared once per shape and segment. */
interface PreparedShape {
  readonly slots: Int32Array
  /** Hashes of the shape's hashed pairs, lo and hi in turn. */
  readonly hashes: Int32Array
  /** The same, as the tail takes them. */
  readonly facts: Int32Array
}

/** A document's pairs and values as scanned from its bytes (see byte-scan/). */
export interface ScannedDocument extends ScannedHashes {
  /** The first `slotCount` are the slots of its private pairs, possibly with repetitions. */
  readonly slots: Int32Array
  readonly slotCount: number
  readonly hashedPairs: number
  /** Per column: the last key met, and how many were met, 2 meaning two or more. */
  readonly columnKeys: Float64Array
  readonly columnCounts: Uint8Array
  /** Top-level keys below which the document is irregular. */
  readonly irregularKeys: readonly string[]
}

export class OpenSegment implements Segment {
  readonly firstOrdinal: number
  readonly shards: number
  readonly rowsPerPair: number
  readonly fingerprintBits: number | undefined
  readonly table: PrivateTable
  readonly alwaysCandidates: number[] = []
  isShapeComplete = true
  readonly columnSpecs: readonly ColumnSpec[]
  readonly tail: OpenTail
  readonly columns: OpenColumns
  /** By slot of the table. */
  readonly privateRows: PrivateRows
  /** Texts of the table's pairs. */
  readonly pairTexts = new PairTexts()
  readonly #memory: RowMemory
  readonly #geometry: Geometry
  readonly #pairHash: PairHash
  readonly #dynamicLimit: number
  /** Identifies this segment in shapes, which would otherwise keep it in memory after it is sealed. */
  readonly #preparer = {}
  #documents = 0
  #hashedPairs = 0

  constructor(
    memory: RowMemory,
    geometry: Geometry,
    pairHash: PairHash,
    firstOrdinal: number,
    parameters: SegmentParameters
  ) {
    this.#memory = memory
    this.#geometry = geometry
    this.#pairHash = pairHash
    this.firstOrdinal = firstOrdinal
    this.table = new PrivateTable(parameters.privatePairs)
    this.privateRows = new PrivateRows(memory, geometry, parameters.privatePairs.length)
    this.#dynamicLimit = Math.min(maxPrivateRows, parameters.privatePairs.length + maxDynamicRows)
    this.tail = createOpenTail({ memory, geometry, pairHash }, parameters)
    const { shards, rowsPerPair, fingerprints } = this.tail.record
    this.shards = shards
    this.rowsPerPair = rowsPerPair
    this.fingerprintBits = fingerprints?.bits
    this.columnSpecs = parameters.columns
    this.columns = new OpenColumns(memory, geometry.segmentDocuments, parameters.columns)
  }

  get documents(): number {
    return this.#documents
  }

  get isFull(): boolean {
    return this.#documents === this.#geometry.segmentDocuments || this.tail.isFull
  }

  get rowBytes(): number {
    const { chunkDocuments, chunkRowBytes } = this.#geometry
    return Math.max(1, Math.ceil(this.#documents / chunkDocuments)) * chunkRowBytes
  }

  get hashedPairs(): number {
    return this.#hashedPairs
  }

  get crowdedDocuments(): number {
    return this.tail.crowdedDocuments
  }

  /** Adds the document at the next position. */
  add(flat: FlatDocument): void {
    const position = this.#documents
    const { privateRows, tail } = this
    privateRows.beginDocument()
    const prepared = this.#prepare(flat.shape)
    const { slots, hashes } = prepared
    for (let i = 0; i < slots.length; i++) privateRows.add(slots[i]!)
    const isCrowded = this.#isCrowded(flat, hashes.length / 2)
    tail.beginDocument(isCrowded)
    if (isCrowded) for (let i = 0; i < hashes.length; i += 2) tail.add(hashes[i]!, hashes[i + 1]!)
    else tail.addFacts(prepared.facts)
    let hashed = hashes.length / 2
    const { nodes, tags, keys, lo, hi } = flat
    for (let i = 0; i < flat.count; i++) {
      const slot = this.table.find(lo[i]!, hi[i]!, nodes[i]!.path, tags[i]!, keys[i]!)
      if (slot >= 0) {
        privateRows.add(slot)
        continue
      }
      hashed++
      tail.add(lo[i]!, hi[i]!)
    }
    if (!isCrowded) this.#hashedPairs += hashed
    let isAlwaysCandidate = flat.isOverfull
    for (const key of flat.irregularKeys) {
      const slot = this.#slotFor(key, Tag.irregular, 0)
      if (slot >= 0) privateRows.add(slot)
      else isAlwaysCandidate = true
    }
    if (isAlwaysCandidate) this.alwaysCandidates.push(position)
    this.columns.add(position, flat)
    this.#endDocument()
  }

  /** False for a crowded document of whose facts the scan has lost some: it has to be added as an object. */
  takesScanned({ hashedPairs, hashCount }: ScannedDocument): boolean {
    return hashCount === hashedPairs || !this.tail.isCrowded(hashedPairs)
  }

  /** Adds a scanned document at the next position. REQUIRES: takesScanned() */
  addScanned(scanned: ScannedDocument): void {
    const position = this.#documents
    const isCrowded = this.tail.isCrowded(scanned.hashedPairs)
    this.tail.beginDocument(isCrowded)
    this.tail.addScanned(scanned)
    this.privateRows.beginDocument()
    this.privateRows.addAll(scanned.slots, scanned.slotCount)
    if (!isCrowded) this.#hashedPairs += scanned.hashedPairs
    this.columns.addKeys(position, scanned.columnKeys, scanned.columnCounts, scanned.irregularKeys)
    this.#endDocument()
  }

  /** Skips a position; the caller marks it dead. */
  skip(): void {
    this.privateRows.beginDocument()
    this.tail.beginDocument(false)
    this.#endDocument()
  }

  /** Adds a document that no longer exists but that older views may still hold live: nothing is known of it. */
  addUnknown(): void {
    this.alwaysCandidates.push(this.#documents)
    this.skip()
  }

  get privatePairCount(): number {
    return this.table.size
  }

  privatePairs(): readonly HashedPair[] {
    return this.table.pairs
  }

  privateValues(path: string): readonly HashedPair[] {
    return this.table.pairs.filter((pair) => pair.path === path && isValueTag(pair.tag))
  }

  typePairs(): readonly HashedPair[] | undefined {
    if (!this.isShapeComplete || this.alwaysCandidates.length > 0) return undefined
    return this.table.pairs.filter(({ tag }) => tag === Tag.type)
  }

  readonly isReady = true

  prepare(): void {}

  rangeColumn(path: string, type: number): OpenColumn | undefined {
    return this.columns.find(path, type)
  }

  rangeColumns(path: string): readonly OpenColumn[] {
    return this.columns.all.filter(({ spec }) => spec.path === path)
  }

  locate(pair: HashedPair, hashed?: HashedLocation): Location {
    const slot = this.table.find(pair.lo, pair.hi, pair.path, pair.tag, pair.key)
    if (slot >= 0) return { kind: 'private', slot }
    if (pair.tag === Tag.irregular) return absent
    if (this.isShapeComplete && (pair.tag === Tag.exists || pair.tag === Tag.type)) return absent
    return hashed ?? { kind: 'hashed', pair }
  }

  get groupDocuments(): number {
    return groupDocumentsOf(this.#geometry.segmentDocuments)
  }

  get upperFrames(): number {
    return this.tail.record.upper.frames
  }

  loadGroups(): void {}

  groups(location: Location): number {
    return location.kind === 'hashed' ? this.tail.groups(location.pair) : location.kind === 'absent' ? 0 : allGroups
  }

  load(location: Location): void | Promise<void> {
    return location.kind === 'hashed' ? this.tail.load(location.pair) : undefined
  }

  privateRow(slot: number, scratch: number, part: RowPart): number {
    if (this.#documents === 0) this.#memory.kernels.fill(scratch, 0, this.rowBytes)
    this.privateRows.writeRow(slot, scratch, part)
    return scratch
  }

  /** Narrows nothing: there is at most one open segment, so the saving would not matter. */
  narrowGroups(_location: HashedLocation, groups: number): number {
    return groups
  }

  andHashed(location: HashedLocation, out: number, part: RowPart): boolean {
    const { pair } = location
    const groups = this.tail.groups(pair) & part.groups
    return groups !== 0 && this.tail.and(pair, out, groups)
  }

  /** Restores the counts as of `documents`; checkpointed data is restored into the parts. */
  restore(documents: number, hashedPairs: number): void {
    this.#documents = documents
    this.#hashedPairs = hashedPairs
  }

  /** Frees the memory. The segment must not be used afterwards. */
  free(): void {
    this.tail.free()
    this.privateRows.free()
    this.columns.free()
  }

  /** @param facts number of hashed facts */
  #isCrowded({ nodes, tags, keys, lo, hi, count }: FlatDocument, facts: number): boolean {
    // Which values are private matters only when there are many.
    if (!this.tail.isCrowded(count + facts)) return false
    let hashed = facts
    for (let i = 0; i < count; i++) {
      if (this.table.find(lo[i]!, hi[i]!, nodes[i]!.path, tags[i]!, keys[i]!) < 0) hashed++
    }
    return this.tail.isCrowded(hashed)
  }

  #endDocument(): void {
    this.#documents++
    this.tail.endDocument()
    this.privateRows.endDocument()
  }

  #prepare(shape: Shape): PreparedShape {
    if (shape.preparedBy === this.#preparer) return shape.prepared as PreparedShape
    const slots = new Set<number>()
    const hashes: number[] = []
    const place = (path: string, tag: number, key: number): void => {
      const slot = this.#slotFor(path, tag, key)
      if (slot >= 0) {
        slots.add(slot)
        return
      }
      this.isShapeComplete = false
      const { lo, hi } = this.#pairHash.hash({ path, tag, key })
      hashes.push(lo, hi)
    }
    for (const { node, type } of shape.facts()) {
      place(node.path, Tag.type, type)
      place(node.path, Tag.exists, 0)
    }
    const all = Int32Array.from(hashes)
    const facts = this.tail.prepareFacts(all)
    const prepared: PreparedShape = { slots: Int32Array.from(slots), hashes: all, facts }
    shape.prepared = prepared
    shape.preparedBy = this.#preparer
    return prepared
  }

  /** Returns the pair's private row or −1, creating one if possible; for irregular keys, as long as there is room. */
  #slotFor(path: string, tag: number, key: number): number {
    const { lo, hi } = this.#pairHash.hash({ path, tag, key })
    const slot = this.table.find(lo, hi, path, tag, key)
    if (slot >= 0) return slot
    // A pair met for the first time is in no earlier document: (1) an irregular key, because each is private or its
    // document is always a candidate; (2) a fact of a shape, as long as all facts are private.
    if (this.table.size >= this.#dynamicLimit) return -1
    if (tag !== Tag.irregular && !this.isShapeComplete) return -1
    this.privateRows.addSlot()
    return this.table.add({ path, tag, key, lo, hi })
  }
}
