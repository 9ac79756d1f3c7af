/** What a run of the benchmark measured: the shape of the JSON in bench/results/. */
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
  /** Repetitions of a query that takes little time. */
  readonly rounds: number
  readonly contenders: readonly ContenderResult[]
  /** Contenders that could not take part. */
  readonly absent: readonly { readonly name: ContenderName; readonly reason: string }[]
  readonly queries: readonly QueryResult[]
  /** Empty when all contenders gave the same documents to every query. */
  readonly disagreements: readonly string[]
  readonly imports: ImportPairs | undefined
}

export interface ContenderResult extends LoadReport {
  readonly name: ContenderName
  readonly rssAfterQueriesBytes?: number
  /** After close. */
  readonly disk?: DirectoryBytes
  readonly indexBytes?: number | undefined
  /** Of it, rows of a Bloom index. */
  readonly indexRowBytes?: number | undefined
  /** To open after a clean close in a new process that has loaded the library, where that was measured. */
  readonly openMilliseconds?: Spread | undefined
  /** To open again after a clean close in the process that had it open. */
  readonly reopenMilliseconds?: Spread | undefined
}

export interface QueryResult {
  readonly name: string
  readonly title: string
  readonly filter: Document
  /** The query has a limit: hits is what it returns, not what matches. */
  readonly limited: boolean
  readonly hits: number
  /** Per query, results as objects in hand. */
  readonly milliseconds: Readonly<Partial<Record<ContenderName, Spread>>>
  /** Of the first run in a process that has just opened the store, where that was measured. */
  readonly coldMilliseconds: Readonly<Partial<Record<ContenderName, Spread>>>
}
