/**
 * Identifies a directory before anything in it is opened: ours, empty, or foreign.
 *
 * Invariants:
 * 1. Inspecting changes nothing on disk.
 * 2. The marker appears atomically: write, fsync, link or rename, fsync of the directory.
 * 3. Within a process a directory is claimed by one owner at a time.
 *
 * What every open() does is synchronous: a handful of system calls, each of which takes less time than a turn of the
 * event loop.
 */
import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { access, constants, link, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PetalError } from '../../model/errors.ts'
import type { FileSystem } from './file-system.ts'
import { nodeFileSystem } from './node-file-system.ts'
import { sparing } from './sparing-file-system.ts'

/** Name of the file that marks a directory as ours. */
export const markerName = 'PETALDB'
const magic = 'petaldb'
/** The directory format that this code writes, and the newest that it reads. */
const directoryFormat = 1
/** Each creator of a marker writes a temporary file of its own; the name without a nonce is from earlier versions. */
const temporaryPattern = /^PETALDB(-[0-9a-f-]{36})?\.tmp$/
const maxMarkerBytes = 4096

/** Contents of the marker file. */
export interface Marker {
  /** The store that created the directory and has to open it. */
  readonly store: string
}

export type DirectoryState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'ours'; readonly marker: Marker }
  /** `found` describes the actual contents, for the error message. */
  | { readonly kind: 'foreign'; readonly found: string }

/** Real paths of the directories that this process has open. */
const claimed = new Set<string>()

/**
 * Claims an existing directory for this process; returns a function that releases it.
 *
 * An engine's own lock file is not enough: it is a POSIX lock, which a process loses as soon as it closes any other
 * descriptor of that file, and LevelDB does so when it refuses a second open. After that refusal any other process
 * could open the directory.
 * @throws PetalError DBPathInUse
 */
export async function claimDirectory(location: string): Promise<() => void> {
  const path = realpathSync.native(location)
  if (claimed.has(path)) {
    const cause = Object.assign(new Error(`${path} is already open in this process`), { code: 'LEVEL_LOCKED' })
    throw new PetalError('DBPathInUse', `${location} is in use by another database in this process`, {
      cause,
      details: { location }
    })
  }
  claimed.add(path)
  return () => claimed.delete(path)
}

/**
 * @throws PetalError UnsupportedFormat for a marker of a newer format, NotADatabase for a marker that is not ours
 */
export function inspectDirectory(location: string): Promise<DirectoryState> {
  return sparing(nodeFileSystem).retrying(async () => inspect(location))
}

function inspect(location: string): DirectoryState {
  const entry = statOrUndefined(location)
  if (entry === undefined) return { kind: 'missing' }
  if (!entry.isDirectory()) return { kind: 'foreign', found: entry.isFile() ? 'a file' : 'not a directory' }
  // Not by its name in a listing: there may be hundreds of files.
  if (statOrUndefined(join(location, markerName)) !== undefined) return { kind: 'ours', marker: readMarker(location) }
  const names = readdirSync(location).filter((name) => !temporaryPattern.test(name))
  return names.length === 0 ? { kind: 'empty' } : { kind: 'foreign', found: describeContents(names) }
}

/**
 * Creates the directory if need be and marks it as ours, durably. If several do so at once, all get the first one's
 * marker: unlike a rename, a link never replaces a file.
 */
export function createMarker(location: string, marker: Marker): Promise<Marker> {
  return sparing(nodeFileSystem).retrying(() => create(location, marker))
}

async function create(location: string, marker: Marker): Promise<Marker> {
  nodeFileSystem.makeDirectory(location)
  const name = join(location, markerName)
  const temporary = join(location, `${markerName}-${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx')
    try {
      await file.writeFile(textOf(marker))
      await file.sync()
    } finally {
      await file.close()
    }
    try {
      await link(temporary, name)
    } catch (error) {
      // EEXIST: another creator was first. Otherwise: a file system without links.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rename(temporary, name)
    }
  } finally {
    // One that cannot be removed does no harm: see temporaryPattern.
    await rm(temporary, { force: true }).catch(() => undefined)
  }
  await syncDirectory(location)
  return readMarker(location)
}

/**
 * Marks a directory that is still under construction (staged-directory.ts); the caller makes the marker's name durable.
 */
export async function writeMarker(fileSystem: FileSystem, directory: string, marker: Marker): Promise<void> {
  const file = fileSystem.open(join(directory, markerName), 'exclusive')
  try {
    file.write(Buffer.from(textOf(marker)), 0)
    await file.sync()
  } finally {
    file.close()
  }
}

function textOf({ store }: Marker): string {
  return `${JSON.stringify({ magic, format: directoryFormat, store })}\n`
}

/** Why the directory cannot be written to, EROFS or EACCES; undefined if it can. */
export async function unwritableReason(location: string): Promise<string | undefined> {
  try {
    await access(location, constants.W_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

function readMarker(location: string): Marker {
  const path = join(location, markerName)
  const stats = statSync(path)
  const text = stats.isFile() && stats.size <= maxMarkerBytes ? readFileSync(path, 'utf8') : ''
  const content = parseObject(text)
  if (content?.magic !== magic) {
    throw new PetalError(
      'NotADatabase',
      `${location} is not a PetalDB database: its file ${markerName} is not from PetalDB`,
      { details: { location } }
    )
  }
  const { format, store } = content
  if (typeof format !== 'number' || format > directoryFormat) {
    throw new PetalError(
      'UnsupportedFormat',
      `${location} has directory format ${String(format)}; this version reads formats up to ${directoryFormat}`,
      { details: { location, found: format, supported: directoryFormat } }
    )
  }
  if (typeof store !== 'string') {
    throw new PetalError('DataCorruption', `${path} does not name a store`, { details: { location, file: path } })
  }
  return { store }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    // Not JSON: the caller reports the file as not ours.
    return undefined
  }
}

function describeContents(names: readonly string[]): string {
  if (names.includes('CURRENT') && names.some((name) => name.startsWith('MANIFEST-'))) {
    return "a LevelDB-like database without PetalDB's marker file"
  }
  const shown = [...names].sort().slice(0, 3)
  return `a directory containing ${shown.join(', ')}${names.length > shown.length ? `, … (${names.length} entries)` : ''}`
}

function statOrUndefined(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  try {
    // A dangling symbolic link exists: it is not a place to create a database.
    return lstatSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

async function syncDirectory(location: string): Promise<void> {
  // Windows cannot open a directory; its renames are journalled.
  if (process.platform === 'win32') return
  const directory = await open(location, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
