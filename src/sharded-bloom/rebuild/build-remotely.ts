/** The thread's side of a RemoteBuilder: builds one segment with nothing but the job. */
import { partsFor } from '../bulk/parts-for.ts'
import type { IndexWrite } from '../document-index.ts'
import type { StoredRun } from '../stored-source.ts'
import { buildSegment, type Following, type RebuiltSegment } from './build-segment.ts'
import type { SegmentJob } from './remote-builder.ts'
import { SegmentBuilder } from './segment-builder.ts'

/**
 * As buildSegment().
 * @param readStored reads the documents of an ordinal range, repeatedly if asked: samples are taken
 * @param write receives the records; it must copy what it keeps
 */
export async function buildRemotely(
  { task, plan, columns }: SegmentJob,
  readStored: (from: number, to: number) => AsyncIterable<StoredRun>,
  write: (record: IndexWrite) => void,
  following: Following
): Promise<RebuiltSegment | undefined> {
  const { parts, store } = await partsFor(plan, write)
  const builder = new SegmentBuilder({ ...parts.building, readStored }, { columns })
  try {
    return await buildSegment(builder, store, task, following)
  } finally {
    builder.close()
    parts.close()
  }
}
