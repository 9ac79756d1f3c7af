/** What a writer of tables has to know about the store. Plain data: it is sent to threads. */
import type { PartitionRules } from '../compaction/partition.ts'
import type { TableWriteOptions } from '../format/table-options.ts'

export interface IngestPlan {
  readonly directory: string
  /**
   * Sequence number of all ingested entries. It is 0, older than all writes, past and future: see ingest-levels.ts for
   * why it has to be.
   */
  readonly sequence: number
  readonly partitions: PartitionRules
  readonly table: TableWriteOptions
}
