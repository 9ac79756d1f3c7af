/**
 * Makes the files that logs are written to.
 *
 * A recycled log is an obsolete one under a new name, written over from its start: its pages are allocated already, so
 * that a sync has no size to make durable. What is left of the old log has another log number.
 */
import { join } from 'node:path'
import { ioError } from '../errors.ts'
import { LogWriter } from '../format/log-writer.ts'
import { logName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'

/** Bytes that a log in use grows by at a time, once its writers ask for syncs: see LogWriterOptions. */
const maxRoomBytes = 256 * 1024

/**
 * A log in a new file. Its name becomes durable with the first sync.
 * @param previous the log that batches went to before
 * @throws LEVEL_IO_ERROR
 */
export function createLog(fileSystem: FileSystem, directory: string, number: number, previous?: LogWriter): LogWriter {
  const path = join(directory, logName(number))
  try {
    const syncName = () => fileSystem.syncDirectory(directory)
    return new LogWriter(fileSystem.open(path, 'create'), number, { previous, syncName, maxRoomBytes })
  } catch (error) {
    throw ioError(`Cannot create ${path}`, error, { path })
  }
}

/**
 * A log in the file of an obsolete one; the log before it has yet to be named, see LogWriter.follow().
 * REQUIRES: nobody has the old log open, and the edit that made it obsolete is durable.
 * @throws LEVEL_IO_ERROR
 */
export async function recycleLog(
  fileSystem: FileSystem,
  directory: string,
  oldNumber: number,
  number: number
): Promise<LogWriter> {
  const path = join(directory, logName(number))
  try {
    fileSystem.rename(join(directory, logName(oldNumber)), path)
    // Before the first write: otherwise a crash may leave records of this log under the old name, the number of this
    // log be given once more to another log in the same file, and these records be taken for that log's.
    await fileSystem.syncDirectory(directory)
    const fileBytes = fileSystem.size(path) ?? 0
    return new LogWriter(fileSystem.open(path, 'update'), number, { fileBytes, maxRoomBytes })
  } catch (error) {
    throw ioError(`Cannot recycle log ${oldNumber} as ${path}`, error, { path })
  }
}
