/** What a check found wrong: collected, not thrown, so that one damaged place does not hide the others. */
import { hasCode } from '../errors.ts'

export type ProblemKind =
  /** CURRENT or the manifest cannot be read. */
  | 'manifest'
  | 'log'
  /** Tables of a level that overlap or are in the wrong order, or a version of a key below a newer one. */
  | 'levels'
  /** A table that is missing, cannot be opened, or is not what the manifest says of it. */
  | 'table'
  /** A block of a table: its checksum, or the order of what is in it. */
  | 'block'
  /** A key that a key filter denies. */
  | 'key-filter'
  /** Value filters, block filters, zone maps: damage, or a value that they deny. Derived: see rebuildFilters(). */
  | 'values'
  /** The filter index in memory leaves out a table. */
  | 'filter-index'

export interface Problem {
  readonly kind: ProblemKind
  readonly path: string
  /** Bytes from the beginning of the file, where that is known. */
  readonly offset?: number | undefined
  readonly what: string
}

/** More are counted only: a file of zeros would fill the memory. */
const maxProblems = 1000

export class ProblemList {
  readonly #problems: Problem[] = []
  #count = 0

  get problems(): readonly Problem[] {
    return this.#problems
  }

  /** All, those beyond the first thousand too. */
  get count(): number {
    return this.#count
  }

  add(kind: ProblemKind, path: string, what: string, offset?: number): void {
    this.#count++
    if (this.#problems.length < maxProblems) this.#problems.push({ kind, path, offset, what })
  }

  /** Adds what a reader threw about a file; anything but damage and failed reads is thrown again. */
  addError(kind: ProblemKind, path: string, error: unknown): void {
    const isExpected = ['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR', 'LEVEL_NOT_SUPPORTED'].some((code) =>
      hasCode(error, code)
    )
    if (!isExpected) throw error
    const { message, path: found, offset } = error as Error & { readonly path?: string; readonly offset?: number }
    this.add(kind, found ?? path, message, offset)
  }
}
