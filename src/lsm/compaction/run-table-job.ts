/**
 * Runs one job: merges the inputs, drops what nobody can see, writes tables. The same code runs in the worker thread
 * and, in slices, on the main thread.
 *
 * Invariants:
 * 1. All versions of a key are in one output.
 * 2. If the job fails, for whatever reason, its outputs are removed.
 */
import { closeQuietly } from '../fs/close-quietly.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { SuppliedPairs } from '../memtable/supplied-pairs.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import { identityOf, loadExtractor } from '../value/load-extractor.ts'
import { ValueCollector } from '../value/section-collector.ts'
import { KernelMerge } from './flush-kernel/kernel-merge.ts'
import { bytesToRead, type TableJob, type TableJobResult } from './job.ts'
import { jobError } from './job-errors.ts'
import { JobMerge } from './job-merge.ts'
import type { Pace } from './job-queue.ts'
import { MemtableReader } from './memtable-reader.ts'
import { RunReader } from './run-reader.ts'
import { TableOutputs } from './table-outputs.ts'

/**
 * @param onWritten called with the number of tables once the inputs are no longer needed: only syncs remain
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR, LEVEL_NOT_SUPPORTED (the extractor), LEVEL_ABORTED
 */
export async function runTableJob(
  job: TableJob,
  fileSystem: FileSystem,
  pace: Pace,
  onWritten?: (tables: number) => void
): Promise<TableJobResult> {
  const started = performance.now()
  const outputs = new TableOutputs(job, fileSystem, await collectorFactory(job))
  const inputs: { close(): void }[] = []
  try {
    const merge = await openMerge(job, fileSystem, outputs, pace, inputs)
    while (merge.runSlice()) {
      const { backlog } = outputs
      if (backlog !== undefined) await pace.waitFor(backlog)
      const pause = pace.yieldIfDue()
      if (pause !== undefined) await pause
    }
    // Before the inputs are closed: the end of the table may be built from their memory.
    outputs.end()
    for (const input of inputs) input.close()
    onWritten?.(outputs.count)
    const tables = await pace.waitFor(outputs.finish())
    return {
      tables,
      readBytes: bytesToRead(job),
      writtenBytes: tables.reduce((bytes, table) => bytes + table.bytes, 0),
      milliseconds: performance.now() - started
    }
  } catch (error) {
    // Report the original error, not one of cleaning up.
    for (const input of inputs) closeQuietly(input)
    await outputs.discard()
    throw jobError('A compaction failed', error, job.directory)
  }
}

/** @param inputs receives what has to be closed after the merge */
async function openMerge(
  job: TableJob,
  fileSystem: FileSystem,
  outputs: TableOutputs,
  pace: Pace,
  inputs: { close(): void }[]
): Promise<JobMerge | KernelMerge> {
  const kernelMerge = await KernelMerge.open(job, outputs, pace)
  if (kernelMerge !== undefined) {
    inputs.push(kernelMerge)
    return kernelMerge
  }
  const readers: (RunReader | MemtableReader)[] = job.runs.map((run) => new RunReader(run, job.directory, fileSystem))
  inputs.push(...readers)
  for (const memtable of job.memtables) {
    const reader = await MemtableReader.open(memtable, pace)
    readers.push(reader)
    inputs.push(reader)
  }
  return new JobMerge(job, mergeCursors(readers.map(({ cursor }) => cursor)), outputs)
}

/** Loads the extractor's module, once for all tables of the job. */
async function collectorFactory(job: TableJob): Promise<(() => ValueCollector) | undefined> {
  const { values } = job.table
  if (values === undefined) return undefined
  const extractor = await loadExtractor(values.extractor)
  const identity = identityOf(values.extractor)
  const handed = new SuppliedPairs()
  for (const { pairs } of job.memtables) if (pairs !== undefined) handed.addAll(pairs)
  return () => new ValueCollector(extractor, identity, values, handed)
}
