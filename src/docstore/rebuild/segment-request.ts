/** Messages between a rebuild and the thread that builds one of its segments. Data only. */
import type { IngestPlan } from '../../lsm/ingest/ingest-plan.ts'
import type { ViewData } from '../../lsm/thread-view/view-data.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import type { RebuiltSegment } from '../../sharded-bloom/rebuild/build-segment.ts'
import type { SegmentJob } from '../../sharded-bloom/rebuild/remote-builder.ts'

export interface SegmentRequest {
  readonly job: SegmentJob
  /** The collection's documents, as they are now. */
  readonly view: ViewData
  readonly ingest: IngestPlan
  /** Key prefixes of documents and index records. */
  readonly docs: Uint8Array
  readonly index: Uint8Array
  /** File numbers for the tables. */
  readonly firstNumber: number
  readonly numbers: number
}

/** A segment whose records are in tables, on disk but not referenced yet. */
export interface BuiltSegmentTables {
  readonly segment: RebuiltSegment
  readonly tables: readonly TableMeta[]
}
