import type { WriteError } from '../errors.ts'

/** What became of a run of inserts; `done` settles when all of it is applied. */
export interface Inserted {
  /** `_id` of each document, undefined for those refused. */
  readonly ids: readonly unknown[]
  readonly errors: readonly WriteError[]
  readonly count: number
  /** Characters of the records, for the size of the next run. */
  readonly characters: number
  readonly done: Promise<void>
}
