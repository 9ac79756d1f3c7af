/**
 * The manifest: a log of version edits that begins with a snapshot of the whole state.
 *
 * Invariants:
 * 1. Every edit but the last was durable before the next was written, and later records say so. A torn edit is
 *    therefore one whose install() never resolved; any other damage is corruption.
 * 2. A marker record after each durable edit distinguishes damage to that edit from a torn tail.
 */
import { join } from 'node:path'
import { corruption } from '../errors.ts'
import { LogReader } from '../format/log-reader.ts'
import { LogWriter } from '../format/log-writer.ts'
import { decodeEdit, encodeEdit, type VersionEdit } from '../format/version-edit.ts'
import { manifestName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import { hasSystemCode } from '../fs/system-error.ts'
import { type ManifestState, StateBuilder, snapshotEdit } from './manifest-state.ts'

/** Bytes rewritten at a time. */
const maxChunkBytes = 2 ** 20

export interface ManifestContents {
  readonly state: ManifestState
  /** Size of the initial snapshot edit. */
  readonly snapshotBytes: number
  /** Number of edits after it. */
  readonly edits: number
  /** Offset after the last edit or marker. */
  readonly end: number
  /** False if the tail is torn: nothing may be appended. */
  readonly isClean: boolean
}

/** @throws LEVEL_CORRUPTION, LEVEL_NOT_SUPPORTED, LEVEL_IO_ERROR, Node's own errors */
export function readManifest(fileSystem: FileSystem, directory: string, number: number): ManifestContents {
  const path = join(directory, manifestName(number))
  const file = openManifest(fileSystem, path)
  try {
    const reader = new LogReader(file, number)
    const builder = new StateBuilder()
    let snapshotBytes = 0
    let edits = 0
    for (const { payload, offset } of reader.records()) {
      const place = { path, offset }
      const edit = decodeEdit(payload, place)
      if (snapshotBytes === 0 && edit.formatVersion === undefined) throw corruption('no format version', place)
      builder.apply(edit, place)
      if (snapshotBytes === 0) snapshotBytes = reader.end
      else edits++
    }
    // CURRENT is set to a manifest only after its snapshot is durable.
    if (snapshotBytes === 0) throw corruption('no snapshot', { path, offset: 0 })
    const isClean = reader.end === reader.fileBytes
    return { state: builder.build({ path }), snapshotBytes, edits, end: reader.end, isClean }
  } finally {
    file.close()
  }
}

/**
 * Writes a manifest of one edit, with durable contents and name. Does not make it the current one.
 * @throws LEVEL_IO_ERROR, Node's own errors
 */
export async function createManifest(
  fileSystem: FileSystem,
  directory: string,
  number: number,
  state: ManifestState
): Promise<LogWriter> {
  const file = fileSystem.open(join(directory, manifestName(number)), 'create')
  const writer = new LogWriter(file, number, { syncName: () => fileSystem.syncDirectory(directory) })
  try {
    await appendEdit(writer, snapshotEdit(state))
  } catch (error) {
    writer.close()
    throw error
  }
  return writer
}

/** A manifest that was read, opened for appending. */
export interface ContinuedManifest {
  readonly log: LogWriter
  /** Makes what was read durable; to be called before anything is appended. @throws LEVEL_IO_ERROR, Node's own errors */
  settle(): Promise<void>
}

/** Opens a manifest for appending after `end`. @throws Node's own errors */
export function continueManifest(
  fileSystem: FileSystem,
  directory: string,
  number: number,
  end: number
): ContinuedManifest {
  const file = fileSystem.open(join(directory, manifestName(number)), 'update')
  const log = new LogWriter(file, number, { offset: end })
  const settle = async (): Promise<void> => {
    rewriteInPlace(file, end)
    await log.sync()
  }
  return { log, settle }
}

/**
 * Rewrites the bytes of a file in place. If an earlier sync of them failed, the system may hold them in its cache
 * marked clean, and a mere sync would report success for bytes that are not on the device.
 */
function rewriteInPlace(file: OpenFile, bytes: number): void {
  const chunk = new Uint8Array(Math.min(bytes, maxChunkBytes))
  for (let at = 0; at < bytes; ) {
    const count = file.read(chunk.subarray(0, bytes - at), at)
    if (count === 0) throw corruption(`the file ends before offset ${bytes}`, { path: file.path, offset: at })
    file.write(chunk.subarray(0, count), at)
    at += count
  }
}

/** Resolves when the edit is durable. @throws LEVEL_IO_ERROR */
export async function appendEdit(writer: LogWriter, edit: VersionEdit): Promise<void> {
  writer.append(encodeEdit(edit))
  await writer.sync()
  writer.mark()
}

function openManifest(fileSystem: FileSystem, path: string): OpenFile {
  try {
    return fileSystem.open(path, 'read')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT'))
      throw corruption('CURRENT names this file, but it does not exist', { path }, error)
    throw error
  }
}
