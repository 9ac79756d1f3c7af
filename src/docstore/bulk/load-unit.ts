/** What passes between an import and the threads that build parts of it: data only, which is cloned or shared. */
import type { IngestPlan } from '../../lsm/ingest/ingest-plan.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import type { BuiltSegment, SegmentPlan } from '../../sharded-bloom/bulk/bulk-plan.ts'

/** What a unit is built by: the same for all units of an import. */
export interface LoadPlan {
  readonly ingest: IngestPlan
  readonly segments: SegmentPlan
  /** What the keys of the collection's documents, ids and index records begin with. */
  readonly docs: Uint8Array
  readonly ids: Uint8Array
  readonly index: Uint8Array
}

/**
 * What the lines of a unit are: lines of an import, as somebody wrote them; or records, as they will be stored, of which none has
 * a line feed in it.
 */
export type LineKind = 'line' | 'record'

/** Whole lines, to be built. */
export interface LoadUnit {
  readonly kind: LineKind
  /**
   * Nobody writes to them before the unit is answered. Shared, so that whatever becomes of the thread the lines are not lost, and
   * because V8 looks through a thread's whole heap for every large array that it is handed.
   */
  readonly bytes: SharedArrayBuffer
  /** Of the bytes in use; the last one ends a line. */
  readonly length: number
  /** Blank ones among them. */
  readonly lines: number
}

export interface LoadRequest {
  readonly plan: LoadPlan
  readonly unit: LoadUnit
  /** The documents' ordinals follow each other from here on: as many as there are lines that are not blank. */
  readonly firstOrdinal: number
  /** Numbers for the unit's tables. */
  readonly firstNumber: number
  readonly numbers: number
}

export interface LoadReply {
  /** undefined where the lines have to be imported one by one: what is wrong with them will be told then. */
  readonly built: BuiltUnit | undefined
}

/** Tables that hold everything that is to be stored of a unit, on disk and named by nobody yet. */
export interface BuiltUnit {
  readonly tables: readonly TableMeta[]
  readonly segments: readonly BuiltSegment[]
  readonly documents: number
  /** UTF-8 bytes of their records. */
  readonly documentBytes: number
  /** Encoded `_id`s: no two are the same. */
  readonly ids: LoadedIds
}

export interface LoadedIds {
  readonly smallest: Uint8Array
  readonly greatest: Uint8Array
  /** One behind the other, in the order of the lines. */
  readonly keys: Uint8Array
  /** Where each of them ends. */
  readonly ends: Uint32Array
}

/** Of documents in a thread's memory, before they become a table. */
export const documentTableBytes = 8 << 20
/** File numbers for a unit's ids and index records. */
export const smallNumbers = 16

/** How many file numbers a unit needs: they cost nothing. @param bytes of its lines; as records they may be somewhat more */
export function numbersFor(bytes: number): number {
  return smallNumbers + 4 + Math.ceil((4 * bytes) / documentTableBytes)
}
