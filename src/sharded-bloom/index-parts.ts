/**
 * The parts of an index that work on its segments and depend on its hash and seed. Created when the header is known,
 * and again when the index starts over with another one.
 */
import type { PairHasher } from '../bloom/hash.ts'
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { Document } from '../model/types.ts'
import { ByteIngest } from './byte-scan/byte-ingest.ts'
import { StoredIngest } from './byte-scan/stored-ingest.ts'
import type { DocumentSource, IndexStore } from './document-index.ts'
import { Maintenance } from './maintenance.ts'
import { type FlatDocument, Flattener } from './pairs/flatten.ts'
import { PairHash } from './pairs/pair-hash.ts'
import type { SegmentBuilding } from './rebuild/segment-builder.ts'
import type { IndexHeader } from './records/index-header.ts'
import type { Geometry } from './segment/geometry.ts'
import { OpenSegment } from './segment/open-segment.ts'
import type { RowCache } from './segment/row-cache.ts'
import type { SealedContext } from './segment/sealed-segment.ts'
import type { SegmentParameters } from './segment/segment.ts'
import type { SegmentHandle } from './segment/segment-handle.ts'
import type { StoredContext } from './segment/stored-segment.ts'
import { storedDocuments } from './stored-source.ts'
import type { TuningOptions } from './tune/tuning-options.ts'

/** Dependencies that do not depend on the header. */
export interface PartsContext {
  readonly store: IndexStore
  readonly documents: DocumentSource
  readonly memory: RowMemory
  readonly cache: RowCache
  readonly geometry: Geometry
  /** Called anew for each segment: the choice may change at any time. */
  readonly tuning: () => TuningOptions
  /** Segments of the index, in ordinal order. */
  readonly handles: readonly SegmentHandle[]
  readonly onDamage: (message: string) => void
  readonly onMaintenanceDue: () => Promise<void>
}

export class IndexParts {
  readonly flattener: Flattener
  readonly pairHash: PairHash
  /** undefined when the index's hash is not the scanner's. */
  readonly byteIngest: ByteIngest | undefined
  readonly maintenance: Maintenance
  /** Context of sealed segments. */
  readonly sealed: SealedContext
  readonly #context: PartsContext
  readonly #flatten = (document: Document): FlatDocument => this.flattener.flatten(document)
  readonly #seedOf = (path: string) => this.flattener.seedOf(path)

  constructor(context: PartsContext, hasher: PairHasher, { seedLo, seedHi }: Pick<IndexHeader, 'seedLo' | 'seedHi'>) {
    const { store, documents, memory, cache, geometry, tuning, handles, onDamage, onMaintenanceDue } = context
    this.#context = context
    this.flattener = new Flattener(hasher, { lo: seedLo, hi: seedHi })
    this.pairHash = new PairHash(hasher, this.#seedOf)
    this.byteIngest = hasher.name === 'murmur' ? new ByteIngest(this.#seedOf) : undefined
    this.sealed = { memory, cache, store, pairHash: this.pairHash, onDamage }
    this.maintenance = new Maintenance({
      documents,
      geometry,
      tuning,
      handles,
      ingest: new StoredIngest(this.#flatten, this.byteIngest),
      createOpenSegment: this.createOpenSegment,
      sealed: this.sealed,
      onDue: onMaintenanceDue
    })
  }

  /** Creates an empty open segment. */
  readonly createOpenSegment = (firstOrdinal: number, parameters: SegmentParameters): OpenSegment =>
    new OpenSegment(this.#context.memory, this.#context.geometry, this.pairHash, firstOrdinal, parameters)

  /** Context of stored segments. */
  get stored(): StoredContext {
    const { documents, geometry } = this.#context
    return { documents, geometry, sealed: this.sealed, flatten: this.#flatten }
  }

  /** Context of segments being rebuilt. */
  get building(): SegmentBuilding {
    const { documents, geometry, tuning } = this.#context
    return {
      readStored: (from, to) => storedDocuments(documents, from, to),
      sealed: this.sealed,
      geometry,
      tuning,
      flatten: this.#flatten,
      scannerSeed: this.byteIngest && this.#seedOf,
      createOpenSegment: this.createOpenSegment
    }
  }

  /** Releases shared memory. */
  close(): void {
    this.maintenance.close()
    this.byteIngest?.close()
  }
}
