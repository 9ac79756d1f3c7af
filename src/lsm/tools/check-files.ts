/** Checks that the files that the next open reads are present and sound: CURRENT, the manifest, the logs. */
import { join } from 'node:path'
import { ioError } from '../errors.ts'
import { LogReader } from '../format/log-reader.ts'
import { decodeBatches, readFirstSequence } from '../format/write-batch.ts'
import { currentName, logName, manifestName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { readCurrent } from '../version/current-file.ts'
import { readManifest } from '../version/manifest.ts'
import { ProblemList } from './problems.ts'

export function checkManifest(fileSystem: FileSystem, directory: string, problems: ProblemList): void {
  const path = join(directory, currentName)
  let number: number | undefined
  try {
    number = attempt(path, () => readCurrent(fileSystem, directory))
    if (number === undefined) problems.add('manifest', path, 'the file is missing')
  } catch (error) {
    problems.addError('manifest', path, error)
  }
  if (number === undefined) return
  const manifest = join(directory, manifestName(number))
  try {
    const found = number
    attempt(manifest, () => readManifest(fileSystem, directory, found))
  } catch (error) {
    problems.addError('manifest', manifest, error)
  }
}

/** An open store's knowledge of its logs, at one moment. */
export interface LogsInUse {
  /**
   * The logs with entries that are not in tables yet, ascending. Other logs are prepared or obsolete, and come and go.
   */
  readonly logNumbers: readonly number[]
  /** Sequence number of the last entry in tables: the log continues after it. */
  readonly lastSequence: number
  /** Sequence number of the last entry written. */
  readonly sequence: number
}

/** A log may be retired and recycled while it is being read; all logs are then read again. */
const maxPasses = 3

/** Yields between records. */
export function* checkLogs(
  fileSystem: FileSystem,
  directory: string,
  inUse: () => LogsInUse,
  problems: ProblemList
): Generator<void, void> {
  for (let pass = 0; pass < maxPasses; pass++) {
    const before = inUse()
    const found = new ProblemList()
    yield* readLogs(fileSystem, directory, before, found)
    if (inUse().logNumbers[0] !== before.logNumbers[0]) continue
    for (const { kind, path, what, offset } of found.problems) problems.add(kind, path, what, offset)
    return
  }
}

function* readLogs(
  fileSystem: FileSystem,
  directory: string,
  { logNumbers, lastSequence, sequence }: LogsInUse,
  problems: ProblemList
): Generator<void, void> {
  let due = lastSequence + 1
  let end = { path: directory, offset: 0 }
  for (const number of logNumbers) {
    const path = join(directory, logName(number))
    end = { path, offset: 0 }
    try {
      const file = attempt(path, () => fileSystem.open(path, 'read'))
      try {
        const reader = new LogReader(file, number)
        for (const { payload, offset } of reader.records()) {
          const place = { path, offset }
          const first = readFirstSequence(payload, 0, payload.length, place)
          if (first !== due)
            problems.add('log', end.path, `the next batch begins with sequence ${first}, expected ${due}`, end.offset)
          due = decodeBatches(payload, 0, payload.length, place, () => undefined)
          end = { path, offset: reader.end }
          yield
        }
      } finally {
        file.close()
      }
    } catch (error) {
      problems.addError('log', path, error)
      return
    }
  }
  if (due > sequence) return
  problems.add('log', end.path, `the logs end before sequence ${due}, although ${sequence} was written`, end.offset)
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const { code } = error as { readonly code?: string }
    throw code?.startsWith('LEVEL_') ? error : ioError(`Cannot read ${path}`, error, { path })
  }
}
