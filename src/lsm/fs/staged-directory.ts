/**
 * Creates a directory atomically: it is filled under a temporary name beside the target and renamed last.
 *
 * Invariants:
 * 1. A directory with the target's name is complete and durable.
 * 2. A failure leaves nothing behind, as far as the file system allows its removal. Leftovers of a process that died
 *    are removed by the next one that creates the same directory.
 * 3. A directory being filled by a live process is left alone. Processes are told apart by number: where they cannot
 *    see each other, in containers for instance, they must not create the same directory at the same time.
 */
import { randomBytes } from 'node:crypto'
import { basename, dirname, join, resolve } from 'node:path'
import { markerName } from './directory.ts'
import { makeDurableDirectory } from './durable-directory.ts'
import type { FileSystem } from './file-system.ts'
import { mayBeAlive } from './process-identity.ts'
import { sparing } from './sparing-file-system.ts'
import { hasSystemCode, systemError } from './system-error.ts'

/** Directories that this process is filling. */
const inProgress = new WeakMap<FileSystem, Set<string>>()

/**
 * @param location must not exist, or be an empty directory
 * @param fill receives the empty directory, and resolves when the contents of all files in it are durable; their names
 * need not be
 * @param original directory being copied, which may have no marker
 * @throws EEXIST for a location that is taken; EINVAL, with the `database`, for one within a database; errors of
 * `fill`; Node's own errors
 */
export async function stageDirectory<T>(
  given: FileSystem,
  location: string,
  fill: (directory: string) => Promise<T>,
  original?: string
): Promise<T> {
  const fileSystem = sparing(given)
  const target = resolve(location)
  const parent = dirname(target)
  assertFree(fileSystem, target)
  assertOutside(fileSystem, target, original)
  await makeDurableDirectory(fileSystem, parent)
  removeLeftovers(fileSystem, target)
  const partial = `${target}.${process.pid}-${randomBytes(4).toString('hex')}.partial`
  const own = inProgress.get(fileSystem) ?? new Set()
  inProgress.set(fileSystem, own.add(partial))
  let isNamed = false
  try {
    fileSystem.makeDirectory(partial)
    const result = await fill(partial)
    await fileSystem.syncDirectory(partial)
    // Some systems do not rename over an empty directory.
    if (assertFree(fileSystem, target) === 'empty') fileSystem.removeDirectory(target)
    fileSystem.rename(partial, target)
    isNamed = true
    await fileSystem.syncDirectory(parent)
    return result
  } catch (error) {
    removeIfPossible(fileSystem, isNamed ? tryRenameBack(fileSystem, target, partial) : partial)
    throw error
  } finally {
    own.delete(partial)
  }
}

/** Makes the contents of all files in a directory durable. @throws Node's own errors */
export async function syncFiles(fileSystem: FileSystem, directory: string): Promise<void> {
  for (const name of fileSystem.list(directory)) {
    const path = join(directory, name)
    if (fileSystem.size(path) === undefined) continue
    const file = fileSystem.open(path, 'update')
    try {
      await file.sync()
    } finally {
      file.close()
    }
  }
}

function assertFree(fileSystem: FileSystem, path: string): 'missing' | 'empty' {
  try {
    if (fileSystem.list(path).length === 0) return 'empty'
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return 'missing'
    // A file, or a path below a file.
    if (!hasSystemCode(error, 'ENOTDIR') || fileSystem.size(path) === undefined) throw error
  }
  throw systemError('EEXIST', 'mkdir', path)
}

/** A directory within a database's directory would be removed, moved or copied along with it. */
function assertOutside(fileSystem: FileSystem, target: string, original: string | undefined): void {
  const source = original === undefined ? undefined : realPathOf(fileSystem, original)
  let above = dirname(target)
  let real = realPathOf(fileSystem, above)
  while (real === undefined && dirname(above) !== above) {
    above = dirname(above)
    real = realPathOf(fileSystem, above)
  }
  for (let database = real; database !== undefined; database = dirname(database)) {
    if (database === source || fileSystem.size(join(database, markerName)) !== undefined) {
      throw Object.assign(systemError('EINVAL', 'mkdir', target), { database })
    }
    if (dirname(database) === database) return
  }
}

/** Undefined if the path does not exist. */
function realPathOf(fileSystem: FileSystem, path: string): string | undefined {
  try {
    return fileSystem.realPath(path)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function removeLeftovers(fileSystem: FileSystem, target: string): void {
  const parent = dirname(target)
  const prefix = `${basename(target)}.`
  for (const name of fileSystem.list(parent)) {
    const [, pid] = name.startsWith(prefix)
      ? (/^(\d+)-[0-9a-f]{8}\.partial$/.exec(name.slice(prefix.length)) ?? [])
      : []
    if (pid === undefined) continue
    const path = join(parent, name)
    const isFilled =
      Number(pid) === process.pid ? inProgress.get(fileSystem)?.has(path) : mayBeAlive({ pid: Number(pid) })
    if (isFilled !== true) removeIfPossible(fileSystem, path)
  }
}

/** Whether the name is durable is unknown: it must not stay. */
function tryRenameBack(fileSystem: FileSystem, target: string, partial: string): string {
  try {
    fileSystem.rename(target, partial)
    return partial
  } catch {
    return target
  }
}

/** Removes a directory with its contents. */
function removeIfPossible(fileSystem: FileSystem, directory: string): void {
  try {
    for (const name of fileSystem.list(directory)) {
      const path = join(directory, name)
      if (fileSystem.size(path) === undefined) removeIfPossible(fileSystem, path)
      else fileSystem.remove(path)
    }
    fileSystem.removeDirectory(directory)
  } catch {
    // It was never created, or the original error also prevents its removal: the next call tries again.
  }
}
