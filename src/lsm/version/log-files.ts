/**
 * Creates log files.
 *
 * A recycled log is an obsolete one under a new name, overwritten from its start: its pages are already allocated, so
 * that a sync need not persist a new file size. Remnants of the old log are recognized by their log number.
 */
import { join } from 'node:path'
import { ioError } from '../errors.ts'
import { LogWriter } from '../format/log-writer.ts'
import { logName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'

/** Limit on the room that sync() preallocates at a time: see LogWriterOptions. */
const maxPreallocatedBytes = 256 * 1024

/**
 * Creates a log in a new file, whose name becomes durable with the first sync.
 * @param previous the log written before this one
 * @throws LEVEL_IO_ERROR
 */
export function createLog(fileSystem: FileSystem, directory: string, number: number, previous?: LogWriter): LogWriter {
  const path = join(directory, logName(number))
  try {
    const syncName = () => fileSystem.syncDirectory(directory)
    return new LogWriter(fileSystem.open(path, 'create'), number, {
      previous,
      syncName,
      maxPreallocatedBytes: maxPreallocatedBytes
    })
  } catch (error) {
    throw ioError(`Cannot create ${path}`, error, { path })
  }
}

/**
 * Creates a log in the file of an obsolete one; set its predecessor with LogWriter.setPrevious().
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
    // Before the first write: otherwise a crash could leave records of this log under the old name; if this log's
    // number were then given to another log in the same file, they would be taken for that log's records.
    await fileSystem.syncDirectory(directory)
    const fileBytes = fileSystem.size(path) ?? 0
    return new LogWriter(fileSystem.open(path, 'update'), number, {
      fileBytes,
      maxPreallocatedBytes: maxPreallocatedBytes
    })
  } catch (error) {
    throw ioError(`Cannot recycle log ${oldNumber} as ${path}`, error, { path })
  }
}
