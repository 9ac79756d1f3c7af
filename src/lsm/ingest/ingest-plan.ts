/** What whoever writes tables for a store has to know of it. Plain data: it crosses into threads. */
import type { TableWriteOptions } from '../format/table-options.ts'

export interface IngestPlan {
  readonly directory: string
  /**
   * Of every entry that is ingested. It is 0, older than all that was or will be written: see ingest-levels.ts for why
   * no other will do.
   */
  readonly sequence: number
  readonly partitionDepth: number
  readonly table: TableWriteOptions
}
