/** What threads that scan are asked, and what they answer: data only. */
import type { ViewData } from '../../../lsm/thread-view/view-data.ts'
import type { Collation } from '../../../query/collation.ts'
import type { SortField } from '../../../query/sort.ts'
import type { Portable } from './portable.ts'

/** A read in a form that can be compiled in another thread. */
export interface PortableRead {
  readonly task: PortableTask
  readonly collation: Collation | undefined
  /** Values of variables that are the same for all documents. */
  readonly constants: Portable
  /** The value of `$$NOW`. */
  readonly now: Date
  /** Time left for the read when it asked for help; undefined if there is no limit. */
  readonly remainingMilliseconds: number | undefined
}

export type PortableTask =
  /** Finds the matches of the filter, or the first of them in an order. */
  | {
      readonly kind: 'find'
      readonly filter: Portable
      readonly first: { readonly sort: readonly SortField[]; readonly wanted: number } | undefined
    }
  /** Takes the matches of the first stages through those that follow, up to a collector. */
  | { readonly kind: 'collect'; readonly pipeline: Portable }
  /** Finds the distinct values of a path among the matches of the filter. */
  | { readonly kind: 'distinct'; readonly filter: Portable; readonly path: readonly string[] }

export interface ScanRequest {
  /** The collection's documents. */
  readonly view: ViewData
  /** Prefix of their keys. */
  readonly docs: Uint8Array
  readonly read: PortableRead
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

/** What became of the candidates of a part. */
export interface DecidedPart<Result = PartResult> {
  readonly result: Result
  readonly costs: PartCosts
}

export type PartResult =
  /** Those that match, ascending. */
  | { readonly kind: 'found'; readonly ordinals: Float64Array }
  /** What a collector made of them. */
  | { readonly kind: 'collected'; readonly partial: unknown }

/** A result in a form that structured cloning keeps. */
export type PortableResult =
  | Extract<PartResult, { readonly kind: 'found' }>
  | { readonly kind: 'collected'; readonly partial: Portable }

export type ScanMessage =
  | { readonly kind: 'open'; readonly request: ScanRequest }
  | { readonly kind: 'decide'; readonly part: PartRequest }
  /** Ends the scan, whatever of it is in progress. */
  | { readonly kind: 'close' }

/** Answers come in the order of messages. */
export type ScanReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'decided'; readonly part: DecidedPart<PortableResult> }
  /** The caller will find out why when it reads the same documents. */
  | { readonly kind: 'failed' }
