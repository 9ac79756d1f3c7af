/** What has to hold for the state of a store, or an edit of it, to be taken. */
import { join } from 'node:path'
import { corruption, type Place } from '../errors.ts'
import type { VersionEdit } from '../format/version-edit.ts'
import { tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { ManifestState } from './manifest-state.ts'

/** A new log number has to come with the sequence number before it: recovery detects holes by comparing the two. */
export function checkLogPosition(edit: VersionEdit, state: ManifestState, place: Place): void {
  if ((edit.logNumber === undefined) !== (edit.lastSequence === undefined)) {
    throw corruption('a log number requires the last sequence number before that log, and vice versa', place)
  }
  const lastSequence = edit.lastSequence ?? state.lastSequence
  if (lastSequence < state.lastSequence) {
    throw corruption(`last sequence ${lastSequence} after ${state.lastSequence}`, place)
  }
  const newer = edit.newTables?.find(({ table }) => table.largestSequence > lastSequence)
  if (newer === undefined) return
  throw corruption(
    `table ${newer.table.number} has entries after sequence ${lastSequence}, the last one in tables`,
    place
  )
}

/**
 * Checks that the tables exist with their full sizes: truncation is reported now, not when the missing part is read.
 */
export function checkTables(fileSystem: FileSystem, directory: string, state: ManifestState): void {
  // Once, because each join takes as long as looking for the file.
  const prefix = join(directory, '/')
  const missing = state.levels
    .flat()
    .filter(({ number, bytes }) => fileSystem.size(prefix + tableName(number)) !== bytes)
  const [first] = missing
  if (first === undefined) return
  const what = missing.length === 1 ? '1 missing file' : `${missing.length} missing files`
  throw corruption(`${what}; e.g. ${tableName(first.number)} of ${first.bytes} bytes`, { path: directory })
}
