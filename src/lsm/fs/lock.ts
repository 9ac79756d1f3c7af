/**
 * Ensures that only one instance at a time opens a directory: the file LOCK names the owning process. Node has no
 * flock, so a lock outlives its process, and the next process has to detect that the owner is gone; there are no
 * time-outs.
 *
 * Invariants:
 * 1. An existing LOCK is always complete: a record is written and synced under another name, then linked. Where files
 *    cannot have two names it is created and written in place, and an unreadable one counts as held.
 * 2. A nonce is never reused. A LOCK with a given nonce is removed only by its owner, and replaced only after its
 *    owner is gone, by the holder of the break file for that nonce: itself such a lock, so that a dead breaker can be
 *    replaced, too.
 * 3. A breaker checks again once it holds the break file. Nobody else can replace that record now; if it is a
 *    different one, an earlier breaker was done, and the record is left alone.
 * 4. The holder of LOCK may remove any other lock records and break files that it finds: those in use belong to
 *    processes that will check again (3) and see the holder.
 *
 * Processes are identified by number, start time and boot: the lock works within one machine and one process
 * namespace. It does not protect a directory on a network, or a volume shared by containers.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { hasCode, ioError, locked } from '../errors.ts'
import { closeQuietly } from './close-quietly.ts'
import { lockBreakName, lockName, lockRecordName } from './file-names.ts'
import type { FileSystem, OpenFile } from './file-system.ts'
import { isOwn, mayBeAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts'
import { sparing } from './sparing-file-system.ts'
import { hasSystemCode } from './system-error.ts'

export interface Lock {
  /** May be called twice. Never throws: a record that cannot be removed is recognized as released by this thread. */
  release(): void
}

interface LockRecord extends ProcessIdentity {
  readonly nonce: string
}

/** A record, complete and on the disk, under a name of its own. */
export interface PreparedRecord {
  readonly nonce: string
  readonly path: string
  readonly text: string
}

interface Place {
  readonly fileSystem: FileSystem
  readonly directory: string
  /** The directory as the user named it. */
  readonly location: string
}

const maxRecordBytes = 4096
/** Every further attempt means that another process has taken and released the lock in between. */
const maxAttempts = 100

/** A record does not tell which thread of a process wrote it, nor whether that one is still running. */
const elsewhereInProcess = 'this process, in another thread, which may have ended, or under its former name'

/** Real paths of the directories locked by this thread. */
const heldPaths = new WeakMap<FileSystem, Set<string>>()
/** Nonces of records that this thread has released but may not have been able to remove. */
const abandoned = new Set<string>()

/**
 * Writes a record for acquireLock(), without blocking the thread until it is on the disk.
 * @param location an existing directory
 * @throws LEVEL_IO_ERROR
 */
export async function prepareLock(given: FileSystem, location: string): Promise<PreparedRecord> {
  const fileSystem = sparing(given)
  try {
    const prepared = newRecord(fileSystem.realPath(location))
    const file = openRecord(fileSystem, prepared.path, prepared.text)
    try {
      await file.sync().finally(() => file.close())
    } catch (error) {
      removeIfPossible(fileSystem, prepared.path)
      throw error
    }
    return prepared
  } catch (error) {
    throw cannotLock(location, error)
  }
}

/**
 * @param location an existing directory
 * @param prepared by prepareLock(), for one call; without it, the thread waits until a record is on the disk
 * @throws LEVEL_LOCKED if another instance has it; LEVEL_IO_ERROR
 */
export function acquireLock(given: FileSystem, location: string, prepared?: PreparedRecord): Lock {
  const fileSystem = sparing(given)
  try {
    const place = { fileSystem, location, directory: fileSystem.realPath(location) }
    const paths = heldPaths.get(fileSystem) ?? new Set()
    heldPaths.set(fileSystem, paths)
    if (paths.has(place.directory)) throw locked(location, 'this process')
    const nonce = take(place, lockName, prepared)
    paths.add(place.directory)
    return { release: () => void (paths.delete(place.directory) && removeRecord(place, lockName, nonce)) }
  } catch (error) {
    if (prepared !== undefined) removeIfPossible(fileSystem, prepared.path)
    throw hasCode(error, 'LEVEL_LOCKED') ? error : cannotLock(location, error)
  }
}

function cannotLock(location: string, error: unknown): Error {
  return ioError(`Cannot lock ${location}`, error, { path: location })
}

/** Who has the directory, if another process does and that can be told; for messages, since it may have ended by now. */
export function holderOf(fileSystem: FileSystem, location: string): string | undefined {
  try {
    const found = readRecord(fileSystem, join(location, lockName))
    return typeof found === 'object' && !isOwn(found) && mayBeAlive(found) ? processOf(found) : undefined
  } catch {
    // Readers need no permission to read the lock.
    return undefined
  }
}

function processOf({ pid }: LockRecord): string {
  return `process ${pid}`
}

/** @throws LEVEL_LOCKED */
function assertNotHeld(
  { fileSystem, location }: Place,
  target: string,
  found: LockRecord | 'unreadable'
): asserts found is LockRecord {
  if (found === 'unreadable') throw locked(location, `an unknown owner: ${target} is not a lock record of petaldb`)
  if (isHeld(fileSystem, found)) throw locked(location, isOwn(found) ? elsewhereInProcess : processOf(found))
}

/** Puts a record of this process at `name`; returns its nonce. */
function take(place: Place, name: string, prepared?: PreparedRecord): string {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const nonce = tryTake(place, name, attempt === 0 ? prepared : undefined)
    if (nonce !== undefined) return nonce
  }
  throw locked(place.location, 'one process after another')
}

/** @returns undefined if another process interfered: worth a retry */
function tryTake(place: Place, name: string, prepared: PreparedRecord | undefined): string | undefined {
  const { fileSystem, directory } = place
  const target = join(directory, name)
  const record = prepared ?? newRecord(directory)
  const { nonce, path } = record
  try {
    if (prepared === undefined) writeRecord(fileSystem, path, record.text)
    if (tryLink(fileSystem, record, target)) return nonce
    const found = readRecord(fileSystem, target)
    if (found === undefined) return undefined
    assertNotHeld(place, target, found)
    return tryReplace(place, path, target, found.nonce) ? nonce : undefined
  } catch (error) {
    // A failed call may have taken effect nevertheless.
    if (!hasCode(error, 'LEVEL_LOCKED')) abandoned.add(nonce)
    throw error
  } finally {
    removeIfPossible(fileSystem, path)
  }
}

function newRecord(directory: string): PreparedRecord {
  const nonce = randomBytes(16).toString('hex')
  const text = `${JSON.stringify({ ...ownIdentity(), nonce } satisfies LockRecord)}\n`
  return { nonce, path: join(directory, lockRecordName(nonce)), text }
}

function writeRecord(fileSystem: FileSystem, path: string, text: string): void {
  const file = openRecord(fileSystem, path, text)
  try {
    file.syncNow()
  } catch (error) {
    removeIfPossible(fileSystem, path)
    throw error
  } finally {
    file.close()
  }
}

/**
 * Returns the file of a new record, to be synced: a record emptied by a power failure would be indistinguishable from
 * another engine's lock.
 */
function openRecord(fileSystem: FileSystem, path: string, text: string): OpenFile {
  const file = fileSystem.open(path, 'exclusive')
  try {
    file.write(Buffer.from(text), 0)
    return file
  } catch (error) {
    closeQuietly(file)
    removeIfPossible(fileSystem, path)
    throw error
  }
}

function tryLink(fileSystem: FileSystem, { path, text }: PreparedRecord, target: string): boolean {
  try {
    fileSystem.link(path, target)
    return true
  } catch (error) {
    // ENOENT: the holder of the lock cleaned up.
    if (hasSystemCode(error, 'EEXIST', 'ENOENT')) return false
    if (!hasSystemCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
  }
  try {
    writeRecord(fileSystem, target, text)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Replaces the record of a dead owner, unless it has changed meanwhile. */
function tryReplace(place: Place, written: string, target: string, staleNonce: string): boolean {
  const { fileSystem } = place
  const breakName = lockBreakName(staleNonce)
  const breakNonce = take(place, breakName)
  try {
    const found = readRecord(fileSystem, target)
    if (typeof found !== 'object' || found.nonce !== staleNonce) return false
    fileSystem.rename(written, target)
    return true
  } finally {
    removeRecord(place, breakName, breakNonce)
  }
}

function removeRecord(place: Place, name: string, nonce: string): void {
  const path = join(place.directory, name)
  try {
    // The record may have been removed by hand, and another process may have taken the lock.
    const found = readRecord(place.fileSystem, path)
    if (typeof found === 'object' && found.nonce === nonce) place.fileSystem.remove(path)
    // If the directory was renamed, the record is where its new name leads.
    else abandoned.add(nonce)
  } catch {
    // The owner has released it and cannot do more.
    abandoned.add(nonce)
  }
}

function isHeld(fileSystem: FileSystem, record: LockRecord): boolean {
  // A file system private to this thread has no other users, and its locks are in `heldPaths`: the record was left by
  // a simulated crash.
  if (isOwn(record)) return fileSystem.isShared && !abandoned.has(record.nonce)
  return mayBeAlive(record)
}

function readRecord(fileSystem: FileSystem, path: string): LockRecord | 'unreadable' | undefined {
  try {
    const file = fileSystem.open(path, 'read')
    try {
      const bytes = Buffer.alloc(maxRecordBytes)
      return parseRecord(bytes.toString('utf8', 0, file.read(bytes, 0)))
    } finally {
      file.close()
    }
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function parseRecord(text: string): LockRecord | 'unreadable' {
  let value: Partial<Record<keyof LockRecord, unknown>> | null
  try {
    value = JSON.parse(text)
  } catch {
    // Another engine's lock (LevelDB's is empty), or part of one of ours.
    return 'unreadable'
  }
  const { pid, startTime, bootId, nonce } = value ?? {}
  // Numbers below 1 address process groups.
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1 || pid > 0x7fffffff) return 'unreadable'
  if (typeof nonce !== 'string' || !/^[0-9a-f]{32}$/.test(nonce)) return 'unreadable'
  return {
    pid,
    nonce,
    ...(typeof startTime === 'number' ? { startTime } : {}),
    ...(typeof bootId === 'string' ? { bootId } : {})
  }
}

function removeIfPossible(fileSystem: FileSystem, path: string): void {
  try {
    fileSystem.remove(path)
  } catch {
    // Renamed, cleaned up by the holder of the lock, or left for it to clean up.
  }
}
