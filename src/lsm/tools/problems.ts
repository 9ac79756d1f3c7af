/**
 * Collects the problems that a check finds, instead of throwing, so that one damaged place does not hide the others.
 */
import { hasCode } from '../errors.ts'

export type ProblemKind =
  /** CURRENT or the manifest cannot be read. */
  | 'manifest'
  | 'log'
  /** Tables of a level that overlap or are out of order, or a version of a key below a newer one. */
  | 'levels'
  /** A table that is missing, cannot be opened, or does not match the manifest. */
  | 'table'
  /** A block of a table: its checksum, or the order of its entries. */
  | 'block'
  /** A key that a key filter denies. */
  | 'key-filter'
  /** Value filters, block filters, zone maps: damage, or a value that they deny. Derived data: see rebuildFilters(). */
  | 'values'
  /** The filter index in memory leaves out a table. */
  | 'filter-index'

export interface Problem {
  readonly kind: ProblemKind
  readonly path: string
  /** Byte offset in the file, if known. */
  readonly offset?: number | undefined
  readonly what: string
}

/** Further problems are only counted: a file of zeros would exhaust memory. */
const maxProblems = 1000

export class ProblemList {
  readonly #problems: Problem[] = []
  #count = 0

  get problems(): readonly Problem[] {
    return this.#problems
  }

  /** The total, including problems beyond the first thousand. */
  get count(): number {
    return this.#count
  }

  add(kind: ProblemKind, path: string, what: string, offset?: number): void {
    this.#count++
    if (this.#problems.length < maxProblems) this.#problems.push({ kind, path, offset, what })
  }

  /** Adds an error that a reader threw for a file; rethrows anything but damage and failed reads. */
  addError(kind: ProblemKind, path: string, error: unknown): void {
    const isExpected = ['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR', 'LEVEL_NOT_SUPPORTED'].some((code) =>
      hasCode(error, code)
    )
    if (!isExpected) throw error
    const { message, path: found, offset } = error as Error & { readonly path?: string; readonly offset?: number }
    this.add(kind, found ?? path, message, offset)
  }
}
