/** The results of a benchmark run: the shape of the JSON in bench/results/. */
import type { Document } from '../src/model/types.ts'
import type { ContenderName } from './contender.ts'
import type { LoadReport } from './contender-process.ts'
import type { DirectoryBytes } from './directory-bytes.ts'
import type { ImportPairs } from './import-pairs.ts'
import type { Machine } from './machine.ts'
import type { Spread } from './statistics.ts'

export interface Comparison {
  readonly machine: Machine
  readonly count: number
  readonly seed: number
  /** Repetitions of a fast query. */
  readonly rounds: number
  readonly contenders: readonly ContenderResult[]
  /** Contenders that could not take part. */
  readonly absent: readonly { readonly name: ContenderName; readonly reason: string }[]
  readonly queries: readonly QueryResult[]
  /** Empty if all contenders returned the same documents for every query. */
  readonly disagreements: readonly string[]
  readonly imports: ImportPairs | undefined
}

export interface ContenderResult extends LoadReport {
  readonly name: ContenderName
  /** After all repetitions. */
  readonly rssAfterQueriesBytes?: number
  /** After each query once in a new process that has opened the store; undefined if not measured. */
  readonly rssAfterFirstQueriesBytes?: Spread | undefined
  /** After closing. */
  readonly disk?: DirectoryBytes
  readonly indexBytes?: number | undefined
  /** The part of it that is rows of a Bloom index. */
  readonly indexRowBytes?: number | undefined
  /** Time to open after a clean close, in a new process that has loaded the library; undefined if not measured. */
  readonly openMilliseconds?: Spread | undefined
  /** Time to reopen after a clean close, in the same process. */
  readonly reopenMilliseconds?: Spread | undefined
}

export interface QueryResult {
  readonly name: string
  readonly title: string
  readonly filter: Document
  /** True if the query has a limit: `hits` is the number of documents returned, not of matches. */
  readonly limited: boolean
  readonly hits: number
  /** Per query, until the results are available as objects. */
  readonly milliseconds: Readonly<Partial<Record<ContenderName, Spread>>>
  /** For the first run in a process that has just opened the store; empty if not measured. */
  readonly coldMilliseconds: Readonly<Partial<Record<ContenderName, Spread>>>
}
