/** Messages between an import and the threads that build units: plain data, which is cloned or shared. */
import type { IngestPlan } from '../../lsm/ingest/ingest-plan.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import type { BuiltSegment, SegmentPlan } from '../../sharded-bloom/bulk/bulk-plan.ts'

/** Parameters of unit building, the same for all units of an import. */
export interface LoadPlan {
  readonly ingest: IngestPlan
  readonly segments: SegmentPlan
  /** Key prefixes of the collection's documents, ids and index records. */
  readonly docs: Uint8Array
  readonly ids: Uint8Array
  readonly index: Uint8Array
}

/**
 * Kind of a unit's lines: `line` for lines of an import, as written by the user; `record` for records in stored form,
 * none of which contains a line feed.
 */
export type LineKind = 'line' | 'record'

/** Whole lines to be built. */
export interface LoadUnit {
  readonly kind: LineKind
  /**
   * The last one ends a line. Not written to before the unit's reply. Shared, so that the lines survive whatever happens
   * to the thread, and because V8 runs a full garbage collection in a thread for every large array passed to it.
   */
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** End of each line, blank ones included, after its line feed; in the same memory. */
  readonly ends: Uint32Array<SharedArrayBuffer>
}

export interface LoadRequest {
  readonly plan: LoadPlan
  readonly unit: LoadUnit
  /** Ordinal of the first document; those of the others, one per non-blank line, follow. */
  readonly firstOrdinal: number
  /** File numbers for the unit's tables. */
  readonly firstNumber: number
  readonly numbers: number
}

/** Tables with everything to be stored of a unit, on disk but not referenced yet. */
export interface BuiltUnit {
  readonly tables: readonly TableMeta[]
  readonly segments: readonly BuiltSegment[]
  readonly documents: number
  /** UTF-8 bytes of their records. */
  readonly documentBytes: number
  /** Encoded `_id`s, all distinct. */
  readonly ids: LoadedIds
}

export interface LoadedIds {
  readonly smallest: Uint8Array
  readonly greatest: Uint8Array
  /** The keys, concatenated in the order of the lines. */
  readonly keys: Uint8Array
  /** End of each key. */
  readonly ends: Uint32Array
}

/** Bytes of documents in a thread's memory that make a table. */
export const documentTableBytes = 8 << 20
/** File numbers for a unit's ids and index records. */
export const smallNumbers = 16

/**
 * Returns how many file numbers a unit needs; unused ones cost nothing. @param bytes of its lines; records may be
 * somewhat larger
 */
export function numbersFor(bytes: number): number {
  return smallNumbers + 4 + Math.ceil((4 * bytes) / documentTableBytes)
}
