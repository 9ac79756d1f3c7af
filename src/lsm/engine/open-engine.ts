/** Opens the store in a directory: checks existence, takes the lock, recovers. */
import { BlockCache } from '../cache/block-cache.ts'
import { FlushKernel } from '../compaction/flush-kernel/flush-kernel.ts'
import { InlineRunner } from '../compaction/inline-runner.ts'
import { assertCanStart, workerRunner } from '../compaction/worker-runner.ts'
import { hasCode, ioError } from '../errors.ts'
import { prepareKernel } from '../format/lz4/lz4.ts'
import { makeDurableDirectory } from '../fs/durable-directory.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { acquireLock, prepareLock } from '../fs/lock.ts'
import { nodeFileSystem } from '../fs/node-file-system.ts'
import { sparing } from '../fs/sparing-file-system.ts'
import { ArenaPool } from '../memtable/arena.ts'
import type { ResolvedOptions, StoreOptions } from '../options.ts'
import { readCurrent } from '../version/current-file.ts'
import { TableCache } from '../version/table-cache.ts'
import { Engine } from './engine.ts'
import { createStore, type RecoverySettings, recoverStore } from './recovery.ts'
import { resolveOptions } from './resolve-options.ts'

/** Arena chunks that no store of this process is using. */
const arenas = new ArenaPool(16 * 1024 * 1024)

/**
 * Takes the lock first and releases it on any failure; a failed open leaves behind at most an empty database.
 * @throws LEVEL_LOCKED; LEVEL_NOT_SUPPORTED for another engine's directory, which is left untouched; LEVEL_CORRUPTION;
 * LEVEL_IO_ERROR; TypeError for an option out of range
 */
export async function openEngine(location: string, given: StoreOptions): Promise<Engine> {
  const options = resolveOptions(given)
  const fileSystem = sparing(given.fileSystem ?? nodeFileSystem)
  if (fileSystem.isShared) assertCanStart()
  const isThere = hasDatabase(fileSystem, location)
  checkExistence(options, location, isThere)
  if (!isThere) await makeDirectory(fileSystem, location)
  const preparing = prepareLock(fileSystem, location)
  // While the disk writes the record.
  prepareKernel()
  const lock = acquireLock(fileSystem, location, await preparing)
  try {
    // Another process may have created or destroyed it before we took the lock.
    const exists = hasDatabase(fileSystem, location)
    checkExistence(options, location, exists)
    let engine: Engine | undefined
    const directory = fileSystem.realPath(location)
    // Recovery runs inline: its tables are rarely worth starting a thread.
    const runner = new InlineRunner(fileSystem)
    const versionSet = { onVersionUnused: () => engine?.onVersionUnused() }
    const settings: RecoverySettings = { fileSystem, directory, options, pool: arenas, runner, versionSet }
    const recovered = exists ? await recoverStore(settings) : await createStore(settings)
    if (fileSystem.isShared) FlushKernel.freeIdle()
    const blocks = new BlockCache(options.cacheSize)
    engine = new Engine({
      ...recovered,
      fileSystem,
      directory,
      options,
      lock,
      blocks,
      pool: arenas,
      tables: new TableCache(fileSystem, directory, blocks, options.maxOpenFiles),
      runner: fileSystem.isShared ? workerRunner : runner
    })
    return engine
  } catch (error) {
    lock.release()
    throw asLevelError(error, location)
  }
}

/** @throws LEVEL_NOT_SUPPORTED for a directory of another engine */
function hasDatabase(fileSystem: FileSystem, location: string): boolean {
  try {
    return readCurrent(fileSystem, location) !== undefined
  } catch (error) {
    throw asLevelError(error, location)
  }
}

function checkExistence({ createIfMissing, errorIfExists }: ResolvedOptions, location: string, exists: boolean): void {
  const problem =
    !exists && !createIfMissing
      ? 'it does not exist (createIfMissing is false)'
      : exists && errorIfExists
        ? 'it already exists (errorIfExists is true)'
        : undefined
  if (problem !== undefined) throw ioError(`Cannot open ${location}`, new Error(problem), { path: location })
}

async function makeDirectory(fileSystem: FileSystem, location: string): Promise<void> {
  try {
    await makeDurableDirectory(fileSystem, location)
  } catch (error) {
    throw ioError(`Cannot create ${location}`, error, { path: location })
  }
}

function asLevelError(error: unknown, location: string): unknown {
  const isOurs = ['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR', 'LEVEL_LOCKED', 'LEVEL_NOT_SUPPORTED', 'LEVEL_ABORTED'].some(
    (code) => hasCode(error, code)
  )
  return isOurs || error instanceof TypeError ? error : ioError(`Cannot open ${location}`, error, { path: location })
}
