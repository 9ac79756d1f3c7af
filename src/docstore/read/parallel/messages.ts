/** What threads that scan are asked, and what they answer: data only. */
import type { ViewData } from '../../../lsm/thread-view/view-data.ts'
import type { Collation } from '../../../query/collation.ts'
import type { SortField } from '../../../query/sort.ts'
import type { Portable } from './portable.ts'

/** A find in a form that can be compiled in another thread. */
export interface PortableFind {
  readonly filter: Portable
  readonly sort: readonly SortField[]
  readonly collation: Collation | undefined
  /** Values of variables that are the same for all documents. */
  readonly constants: Portable
  /** The value of `$$NOW`. */
  readonly now: Date
}

export interface ScanRequest {
  /** The collection's documents. */
  readonly view: ViewData
  /** Prefix of their keys. */
  readonly docs: Uint8Array
  readonly find: PortableFind
  /** Only the first matches of the sort order are wanted; undefined for all. */
  readonly wanted: number | undefined
}

/** Candidates within a range of ordinals. */
export interface PartRequest {
  readonly from: number
  readonly to: number
  /** Ascending; undefined for all of the range. */
  readonly ordinals: Float64Array | undefined
  /** The filter need not be tested. */
  readonly isCertain: boolean
}

/** What deciding about candidates cost; see Meter. */
export interface PartCosts {
  readonly documentsFetched: number
  readonly tested: number
  readonly confirmed: number
}

export interface DecidedPart {
  /** Those that match, ascending. */
  readonly ordinals: Float64Array
  readonly costs: PartCosts
}

export type ScanMessage =
  | { readonly kind: 'open'; readonly request: ScanRequest }
  | { readonly kind: 'decide'; readonly part: PartRequest }
  /** Ends the scan, whatever of it is in progress. */
  | { readonly kind: 'close' }

/** Answers come in the order of messages. */
export type ScanReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'decided'; readonly part: DecidedPart }
  /** The caller will find out why when it reads the same documents. */
  | { readonly kind: 'failed' }
