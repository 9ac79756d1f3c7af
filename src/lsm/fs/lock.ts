/**
 * One instance at a time opens a directory: the file LOCK names the process that has it. Node has no flock, so a lock
 * outlives its process, and the next one has to see that its owner is gone; there are no time-outs.
 *
 * Invariants:
 * 1. LOCK is whole whenever it is there: a record is written and synced under another name, then linked. Where files
 *    cannot have two names it is created and written, and one that cannot be read is taken to be held.
 * 2. A nonce is never used twice. LOCK with a nonce is removed by its owner only, and replaced only once its owner is
 *    gone, by who holds the break file of that nonce: itself such a lock, so that a dead breaker can be replaced too.
 * 3. A breaker looks again once it holds the break file. Nobody else can replace that record now; if it is another
 *    one, an earlier breaker was done, and its record is not touched.
 * 4. What else the holder of LOCK finds under the names of lock records and break files it may remove: those that are
 *    in use belong to processes that will look again (3) and see the holder.
 *
 * Processes are told apart by number, start and boot: the lock is for one machine and one process namespace. It does
 * not protect a directory on a network, or a volume shared by containers.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { hasCode, ioError, locked } from '../errors.ts'
import { lockBreakName, lockName, lockRecordName } from './file-names.ts'
import type { FileSystem } from './file-system.ts'
import { isOwn, mayBeAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts'
import { hasSystemCode } from './system-error.ts'

export interface Lock {
  /** Fine when called twice. Never throws: what cannot be removed is recognised as released by this thread. */
  release(): void
}

interface LockRecord extends ProcessIdentity {
  readonly nonce: string
}

interface Place {
  readonly fileSystem: FileSystem
  readonly directory: string
  /** The directory as the user named it. */
  readonly location: string
}

const maxRecordBytes = 4096
/** Every further attempt means that somebody else took the lock and left it in between. */
const maxAttempts = 100

/** Real paths of the directories this thread has locked. */
const heldPaths = new WeakMap<FileSystem, Set<string>>()
/** Nonces of records that this thread is done with and may not have been able to remove. */
const abandoned = new Set<string>()

/**
 * @param location an existing directory
 * @throws LEVEL_LOCKED when another instance has it; LEVEL_IO_ERROR
 */
export function acquireLock(fileSystem: FileSystem, location: string): Lock {
  try {
    const place = { fileSystem, location, directory: fileSystem.realPath(location) }
    const paths = heldPaths.get(fileSystem) ?? new Set()
    heldPaths.set(fileSystem, paths)
    if (paths.has(place.directory)) throw locked(location, 'this process')
    const nonce = take(place, lockName)
    paths.add(place.directory)
    return { release: () => void (paths.delete(place.directory) && leave(place, lockName, nonce)) }
  } catch (error) {
    throw hasCode(error, 'LEVEL_LOCKED') ? error : ioError(`Cannot lock ${location}`, error, { path: location })
  }
}

/**
 * Only looks: for a directory in which no lock can be taken.
 * @throws LEVEL_LOCKED when an instance has it; what the file system throws
 */
export function assertUnlocked(fileSystem: FileSystem, location: string): void {
  const directory = fileSystem.realPath(location)
  const target = join(directory, lockName)
  const found = readRecord(fileSystem, target)
  if (found !== undefined) assertNotHeld({ fileSystem, directory, location }, target, found)
}

/** @throws LEVEL_LOCKED */
function assertNotHeld(
  { fileSystem, location }: Place,
  target: string,
  found: LockRecord | 'unreadable'
): asserts found is LockRecord {
  if (found === 'unreadable') throw locked(location, `an unknown owner: ${target} is not a record of this store`)
  if (isHeld(fileSystem, found)) throw locked(location, isOwn(found) ? 'this process' : `process ${found.pid}`)
}

/** Puts a record of this process at `name`; returns its nonce. */
function take(place: Place, name: string): string {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const nonce = attemptToTake(place, name)
    if (nonce !== undefined) return nonce
  }
  throw locked(place.location, 'one process after another')
}

/** @returns undefined when somebody else changed things in between: worth another try */
function attemptToTake(place: Place, name: string): string | undefined {
  const { fileSystem, directory } = place
  const target = join(directory, name)
  const nonce = randomBytes(16).toString('hex')
  const record = `${JSON.stringify({ ...ownIdentity(), nonce } satisfies LockRecord)}\n`
  const written = join(directory, lockRecordName(nonce))
  try {
    writeRecord(fileSystem, written, record)
    if (wasLinked(fileSystem, written, target, record)) return nonce
    const found = readRecord(fileSystem, target)
    if (found === undefined) return undefined
    assertNotHeld(place, target, found)
    return wasReplaced(place, written, target, found.nonce) ? nonce : undefined
  } catch (error) {
    // A call that failed may have done its work all the same.
    if (!hasCode(error, 'LEVEL_LOCKED')) abandoned.add(nonce)
    throw error
  } finally {
    removeIfPossible(fileSystem, written)
  }
}

function writeRecord(fileSystem: FileSystem, path: string, record: string): void {
  const file = fileSystem.open(path, 'exclusive')
  try {
    file.write(Buffer.from(record), 0)
    // A record that a power failure emptied could not be told from a lock of another engine.
    file.syncNow()
  } catch (error) {
    removeIfPossible(fileSystem, path)
    throw error
  } finally {
    file.close()
  }
}

function wasLinked(fileSystem: FileSystem, written: string, target: string, record: string): boolean {
  try {
    fileSystem.link(written, target)
    return true
  } catch (error) {
    // ENOENT: the holder of the lock tidied up.
    if (hasSystemCode(error, 'EEXIST', 'ENOENT')) return false
    if (!hasSystemCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
  }
  try {
    writeRecord(fileSystem, target, record)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Replaces the record of a dead owner, unless it is another record by now. */
function wasReplaced(place: Place, written: string, target: string, staleNonce: string): boolean {
  const { fileSystem } = place
  const breakName = lockBreakName(staleNonce)
  const breakNonce = take(place, breakName)
  try {
    const found = readRecord(fileSystem, target)
    if (typeof found !== 'object' || found.nonce !== staleNonce) return false
    fileSystem.rename(written, target)
    return true
  } finally {
    leave(place, breakName, breakNonce)
  }
}

function leave(place: Place, name: string, nonce: string): void {
  const path = join(place.directory, name)
  try {
    // Somebody may have removed it by hand and another process taken the lock.
    const found = readRecord(place.fileSystem, path)
    if (typeof found === 'object' && found.nonce === nonce) place.fileSystem.remove(path)
  } catch {
    // The owner is done and can do nothing about it.
    abandoned.add(nonce)
  }
}

function isHeld(fileSystem: FileSystem, record: LockRecord): boolean {
  // A file system that belongs to this thread has no other users, and what it has locked is in `heldPaths`: the record
  // was left by a crash that was only played.
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
    // Another engine's lock (LevelDB's is empty), or half of one of ours.
    return 'unreadable'
  }
  const { pid, startTime, bootId, nonce } = value ?? {}
  // Numbers below 1 address groups of processes.
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
    // Renamed, tidied up by the holder of the lock, or left for it to tidy up.
  }
}
