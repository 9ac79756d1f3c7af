/**
 * Builds one segment of an index in a thread of its own: reads the documents from the store's tables, and writes tables
 * with the segment's records.
 *
 * Invariant: without a result there are no files left.
 */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { ThreadView } from '../../lsm/thread-view/thread-view.ts'
import { buildRemotely } from '../../sharded-bloom/rebuild/build-remotely.ts'
import type { Following } from '../../sharded-bloom/rebuild/build-segment.ts'
import type { StoredRun } from '../../sharded-bloom/stored-source.ts'
import { IndexTables } from '../store/index-tables.ts'
import { type Area, areaOf } from '../store/layout.ts'
import { storedRunsOfScan } from '../store/stored-runs.ts'
import { scanDocuments } from '../store/thread-documents.ts'
import type { BuiltSegmentTables, SegmentRequest } from './segment-request.ts'

/**
 * @returns undefined if there are no documents
 * @throws AbortedError, LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function buildSegmentTables(
  { job, view: data, ingest, docs, index, firstNumber, numbers }: SegmentRequest,
  fileSystem: FileSystem,
  following: Following
): Promise<BuiltSegmentTables | undefined> {
  const tables = new IndexTables(ingest, index, firstNumber, numbers, fileSystem)
  const view = await ThreadView.open(data, fileSystem)
  let built: BuiltSegmentTables | undefined
  try {
    const area = areaOf(docs)
    const read = (from: number, to: number) => readStored(view, area, from, to)
    const segment = await buildRemotely(job, read, (record) => tables.put(record), following)
    if (segment !== undefined) built = { segment, tables: await tables.finish() }
    return built
  } finally {
    view.close()
    if (built === undefined) await tables.discard()
  }
}

async function* readStored(view: ThreadView, docs: Area, from: number, to: number): AsyncGenerator<StoredRun> {
  if (from >= to) return
  yield* storedRunsOfScan(scanDocuments(view, docs, { from, to }))
}
