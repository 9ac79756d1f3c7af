/**
 * Recovers a writable store from a directory: the manifest's tables, plus the log entries that are not in them.
 *
 * Invariants:
 * 1. Nothing that recovery reads is removed or overwritten before its contents are durable elsewhere: tables → edit
 *    that names them and the new log → removal of the old logs. A crash at any step leaves a directory that recovers
 *    to the same state.
 * 2. Existing logs are never appended to, unless they are empty: their tails may be torn.
 * 3. Nothing is written where the database was closed with nothing to replay and nothing to remove.
 */
import { join } from 'node:path'
import { copyShared } from '../../model/copy-bytes.ts'
import { TimeSlice } from '../../model/time-slice.ts'
import type { JobRunner } from '../compaction/job.ts'
import { LogRecovery } from '../format/log-recovery.ts'
import { logName, parseFileName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { ArenaPool } from '../memtable/arena.ts'
import type { ResolvedOptions } from '../options.ts'
import { obsoleteFiles } from '../version/obsolete-files.ts'
import { VersionSet, type VersionSetOptions } from '../version/version-set.ts'
import { applyBatches } from './apply-batches.ts'
import { Logs } from './logs.ts'
import { flushJob } from './table-jobs.ts'
import { WriteBuffer } from './write-buffer.ts'

export interface Recovered {
  readonly versions: VersionSet
  /** With one empty log begun. */
  readonly logs: Logs
  /** Sequence number of the newest entry in the store. */
  readonly lastSequence: number
}

export interface RecoverySettings {
  readonly fileSystem: FileSystem
  readonly directory: string
  readonly options: ResolvedOptions
  readonly pool: ArenaPool
  /** Writes the log entries into tables. */
  readonly runner: JobRunner
  readonly versionSet: VersionSetOptions
}

/** Creates a database in an empty directory. REQUIRES: the directory is locked. */
export async function createStore(settings: RecoverySettings): Promise<Recovered> {
  const { fileSystem, directory, versionSet } = settings
  const versions = await VersionSet.create(fileSystem, directory, versionSet)
  const logs = newLogs(settings, versions)
  try {
    // The manifest names no log yet: recovery reads all there are.
    logs.begin()
    return { versions, logs, lastSequence: 0 }
  } catch (error) {
    await versions.close()
    throw error
  }
}

/**
 * Recovers the database in a directory. REQUIRES: the directory is locked.
 * @throws LEVEL_CORRUPTION, LEVEL_NOT_SUPPORTED, LEVEL_IO_ERROR
 */
export async function recoverStore(settings: RecoverySettings): Promise<Recovered> {
  const { fileSystem, directory, versionSet } = settings
  const versions = await VersionSet.recover(fileSystem, directory, versionSet)
  const logs = newLogs(settings, versions)
  const buffers: WriteBuffer[] = []
  try {
    const recovery = new LogRecovery(fileSystem, directory, versions)
    if (isAsClosed(settings, versions, recovery)) {
      logs.beginWith(versions.logNumber)
      return { versions, logs, lastSequence: versions.lastSequence }
    }
    await versions.settle()
    await replay(recovery, settings, buffers)
    // What a crash has left behind, half a merge for example, may be what fills the disk.
    if (buffers.length > 0) removeObsolete(fileSystem, directory, versions)
    const tables = await writeTables(buffers, versions, settings)
    const { logNumber } = logs.begin()
    const newTables = tables.map((table) => ({ level: 0, table }))
    await versions.install({ newTables, logNumber, lastSequence: recovery.lastSequence })
    removeObsolete(fileSystem, directory, versions)
    return { versions, logs, lastSequence: recovery.lastSequence }
  } catch (error) {
    await logs.close()
    await versions.close()
    throw error
  } finally {
    // After a failure, too: an application may try to open the store again and again.
    for (const buffer of buffers) buffer.release()
  }
}

function newLogs({ fileSystem, directory, options }: RecoverySettings, versions: VersionSet): Logs {
  return new Logs(fileSystem, directory, options.writeBufferSize, () => versions.takeFileNumbers(1))
}

/** Replays the logs into memtables, oldest first. @param buffers receives them, even if a log is damaged */
async function replay(
  recovery: LogRecovery,
  { pool, options }: RecoverySettings,
  buffers: WriteBuffer[]
): Promise<void> {
  const timeSlice = new TimeSlice()
  for (const { payload, place } of recovery.records()) {
    let buffer = buffers.at(-1)
    if (buffer === undefined || buffer.fillBytes >= options.writeBufferSize) {
      buffer = new WriteBuffer(pool)
      buffers.push(buffer)
    }
    const { arena } = buffer.memtable
    const { chunk, bytes, offset } = arena.reserve(payload.length)
    copyShared(payload, bytes, offset)
    arena.commit(offset + payload.length)
    applyBatches(buffer.memtable, chunk, offset, offset + payload.length, place)
    if (timeSlice.isOver()) await timeSlice.renew()
  }
}

async function writeTables(buffers: readonly WriteBuffer[], versions: VersionSet, settings: RecoverySettings) {
  if (buffers.length === 0) return []
  const memtables = buffers.map(({ memtable }) => memtable)
  const planned = flushJob(settings.directory, memtables, versions.current, [], settings.options)
  const firstNumber = versions.takeFileNumbers(planned.reservedNumbers)
  const { tables } = await settings.runner.run({ ...planned, firstNumber })
  return tables
}

/**
 * Whether there is nothing to replay, to make durable or to remove. (An edit that is not durable leaves files behind as
 * well, but that is not relied upon.)
 */
function isAsClosed(
  { fileSystem, directory }: RecoverySettings,
  versions: VersionSet,
  { listing, logNumbers: [log, ...later] }: LogRecovery
): boolean {
  if (!versions.isConsolidated || log !== versions.logNumber || later.length > 0) return false
  const isEmpty = fileSystem.size(join(directory, logName(log))) === 0
  return isEmpty && obsoleteNames(listing, versions).length === 0
}

/** Leftovers do no harm; the next open tries again. */
function removeObsolete(fileSystem: FileSystem, directory: string, versions: VersionSet): void {
  let listing: readonly string[]
  try {
    listing = fileSystem.list(directory)
  } catch {
    return
  }
  for (const name of obsoleteNames(listing, versions)) {
    try {
      fileSystem.remove(join(directory, name))
    } catch {
      // See above.
    }
  }
}

function obsoleteNames(listing: readonly string[], versions: VersionSet): readonly string[] {
  const { names, spareLog } = obsoleteFiles(listing, {
    liveTables: versions.liveTables(),
    logNumber: versions.logNumber,
    manifestNumber: versions.manifestNumber
  })
  // Lock records have no number; a process writing one checks again and finds the directory locked (see lock.ts).
  const lockRecords = listing.filter((name) => isUnnumberedTemporary(name))
  return [...names, ...lockRecords, ...(spareLog === undefined ? [] : [logName(spareLog)])]
}

function isUnnumberedTemporary(name: string): boolean {
  const file = parseFileName(name)
  return file?.kind === 'temporary' && file.number === 0
}
