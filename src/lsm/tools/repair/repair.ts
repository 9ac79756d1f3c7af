/**
 * Makes a damaged database openable again, keeping everything that can still be read.
 *
 * With a readable manifest, tables stay where they are: damaged ones are replaced by new ones made from their sound
 * blocks, and log entries become level-0 tables. Without one, all tables and logs in the directory are ordered by
 * their sequence numbers (order-tables.ts) and placed in level 0. Obsolete tables and logs that had not been removed
 * yet then count, too: entries that were deleted may reappear.
 *
 * Invariants:
 * 1. Nothing is changed in place. Until the new CURRENT is written the database is unchanged, and can be repaired
 *    again.
 * 2. A damaged file is in `lost` before CURRENT is written, and is never removed from there.
 */
import { join } from 'node:path'
import { InlineRunner } from '../../compaction/inline-runner.ts'
import { resolveOptions } from '../../engine/resolve-options.ts'
import { hasCode, ioError, notSupported } from '../../errors.ts'
import { comparatorName } from '../../format/version-edit.ts'
import { logName, parseFileName, tableName } from '../../fs/file-names.ts'
import type { FileSystem } from '../../fs/file-system.ts'
import { acquireLock } from '../../fs/lock.ts'
import { nodeFileSystem } from '../../fs/node-file-system.ts'
import { sparing } from '../../fs/sparing-file-system.ts'
import type { StoreOptions } from '../../options.ts'
import { writeCurrent } from '../../version/current-file.ts'
import { compareInLevel } from '../../version/level.ts'
import { createLog } from '../../version/log-files.ts'
import { createManifest } from '../../version/manifest.ts'
import type { ManifestState } from '../../version/manifest-state.ts'
import type { TableMeta } from '../../version/table-meta.ts'
import { recogniseDirectory } from '../recognise.ts'
import { type BaseState, readBaseState } from './base-state.ts'
import { type Loss, Losses } from './losses.ts'
import { LostFiles } from './lost-files.ts'
import { groupTables, runsOf } from './order-tables.ts'
import { salvageLogs } from './salvage-logs.ts'
import { salvageTable } from './salvage-table.ts'
import { checkAborted, FileNumbers, type RepairSettings, rewriteJob } from './settings.ts'

export interface StoreRepairOptions extends StoreOptions {
  /** Aborts with LEVEL_ABORTED: no file has changed. */
  readonly signal?: AbortSignal | undefined
}

export interface RepairReport {
  /** The basis of the new state: the manifest, or the tables alone. */
  readonly source: 'manifest' | 'tables'
  /** Contents of the repaired database. */
  readonly tables: number
  readonly entries: number
  /** Number of operations recovered from logs. */
  readonly loggedOperations: number
  /** Damage found, and data that could not be saved. */
  readonly lost: readonly Loss[]
  /** Names of the damaged files, now in the directory `lost`. */
  readonly movedFiles: readonly string[]
}

/**
 * @param options as for opening the database: rewritten tables get its filters
 * @throws LEVEL_IO_ERROR, also when there is no database; LEVEL_LOCKED while another instance has it open;
 * LEVEL_NOT_SUPPORTED for a directory that is not petaldb's, or of a later version; LEVEL_ABORTED. Nothing was changed
 * then
 */
export async function repairStore(location: string, options: StoreRepairOptions = {}): Promise<RepairReport> {
  const resolved = resolveOptions(options)
  const fileSystem = sparing(options.fileSystem ?? nodeFileSystem)
  try {
    checkContents(recogniseDirectory(fileSystem, location), location)
    const lock = acquireLock(fileSystem, location)
    try {
      const directory = fileSystem.realPath(location)
      const losses = new Losses()
      checkAborted(options)
      const names = await filesIn(fileSystem, directory, losses)
      const base = readBaseState(fileSystem, directory, names, losses)
      const settings = {
        fileSystem,
        directory,
        losses,
        options: resolved,
        runner: new InlineRunner(fileSystem),
        numbers: new FileNumbers(firstFreeNumber(names, base.state)),
        signal: options.signal
      }
      return await new Repair(settings, base, names).run()
    } finally {
      lock.release()
    }
  } catch (error) {
    const { code } = error as { readonly code?: string }
    throw code?.startsWith('LEVEL_') || error instanceof TypeError
      ? error
      : ioError(`Cannot repair ${location}`, error, { path: location })
  }
}

function checkContents(contents: ReturnType<typeof recogniseDirectory>, location: string): void {
  switch (contents.kind) {
    case 'missing':
      throw ioError(`Cannot repair ${location}`, new Error('it does not exist'), { path: location })
    case 'empty':
      throw ioError(`Cannot repair ${location}`, new Error('it contains no database'), { path: location })
    case 'foreign':
      throw notSupported(`${location} is not a petaldb database (it is ${contents.found}): nothing was changed`)
    case 'ours':
  }
}

/** Returns the names in a directory, and moves aside what only has the name of a file of ours. */
async function filesIn(fileSystem: FileSystem, directory: string, losses: Losses): Promise<readonly string[]> {
  const names = fileSystem.list(directory)
  const others = names.filter((name) => {
    const { kind = 'lock' } = parseFileName(name) ?? {}
    return kind !== 'lock' && kind !== 'temporary' && fileSystem.size(join(directory, name)) === undefined
  })
  for (const name of others) losses.add(join(directory, name), 'is not a file')
  await new LostFiles(fileSystem, directory).setAside(others)
  return names.filter((name) => !others.includes(name))
}

function firstFreeNumber(names: readonly string[], { nextFileNumber }: ManifestState): number {
  return names.reduce((next, name) => Math.max(next, (parseFileName(name)?.number ?? 0) + 1), nextFileNumber)
}

class Repair {
  readonly #settings: RepairSettings
  readonly #base: BaseState
  readonly #names: readonly string[]
  /** Names of files to move to `lost`. */
  readonly #damaged: string[]

  constructor(settings: RepairSettings, base: BaseState, names: readonly string[]) {
    this.#settings = settings
    this.#base = base
    this.#names = names
    this.#damaged = [...base.discarded]
  }

  async run(): Promise<RepairReport> {
    const { fileSystem, directory, numbers } = this.#settings
    const first = numbers.next
    try {
      return await this.#run()
    } catch (error) {
      if (hasCode(error, 'LEVEL_ABORTED')) {
        for (const name of fileSystem.list(directory)) {
          if ((parseFileName(name)?.number ?? 0) >= first) fileSystem.remove(join(directory, name))
        }
      }
      throw error
    }
  }

  async #run(): Promise<RepairReport> {
    const { losses } = this.#settings
    const { source, state } = this.#base
    const levels = source === 'manifest' ? await this.#levelsOf(state) : [await this.#allTables()]
    const lastFlushed = source === 'manifest' ? state.lastSequence : undefined
    const logs = await salvageLogs(this.#settings, this.#logsFrom(state.logNumber), lastFlushed)
    this.#damaged.push(...logs.damaged.map(logName))
    const [level0 = [], ...below] = levels
    const ordered = [await this.#inOrder([...level0, ...logs.tables]), ...below]
    const tables = ordered.flat()
    const newest = Math.max(state.lastSequence, logs.lastSequence)
    const lastSequence = tables.reduce((last, table) => Math.max(last, table.largestSequence), newest)
    checkAborted(this.#settings)
    const movedFiles = await this.#install({ ...state, levels: ordered, lastSequence })
    return {
      source,
      tables: tables.length,
      entries: tables.reduce((entries, table) => entries + table.entries, 0),
      loggedOperations: logs.operations,
      lost: losses.list,
      movedFiles
    }
  }

  /** Saves the manifest's tables, level by level. */
  async #levelsOf({ levels }: ManifestState): Promise<TableMeta[][]> {
    const saved: TableMeta[][] = []
    for (const tables of levels) {
      const level: TableMeta[] = []
      for (const table of tables) level.push(...(await this.#salvage(table.number, table)))
      saved.push(level)
    }
    return saved
  }

  /** Saves every table in the directory. */
  async #allTables(): Promise<TableMeta[]> {
    const tables: TableMeta[] = []
    for (const number of this.#numbersOf('table')) tables.push(...(await this.#salvage(number)))
    return tables
  }

  /** Returns at most one table. */
  async #salvage(number: number, declared?: TableMeta): Promise<TableMeta[]> {
    const name = tableName(number)
    if (!this.#names.includes(name)) {
      this.#settings.losses.add(
        join(this.#settings.directory, name),
        `the table is missing, with ${declared?.entries} entries`
      )
      return []
    }
    checkAborted(this.#settings)
    const { meta, isSound } = await salvageTable(this.#settings, number, declared)
    if (!isSound) this.#damaged.push(name)
    return meta === undefined ? [] : [meta]
  }

  /** Level-0 tables, newest first; merges those whose order does not determine which entries are newer. */
  async #inOrder(tables: readonly TableMeta[]): Promise<readonly TableMeta[]> {
    const { runner, signal } = this.#settings
    const ordered: TableMeta[] = []
    for (const group of groupTables(tables)) {
      if (group.tables.length === 1) ordered.push(...group.tables)
      else ordered.push(...(await runner.run(rewriteJob(this.#settings, runsOf(group.tables)), signal)).tables)
    }
    return ordered.sort((a, b) => compareInLevel(0, a, b))
  }

  /** Makes the state the current one. @returns names of the files that are now in `lost` */
  async #install(state: Omit<ManifestState, 'logNumber' | 'nextFileNumber'>): Promise<readonly string[]> {
    const { fileSystem, directory, numbers } = this.#settings
    const lost = new LostFiles(fileSystem, directory)
    await lost.keep(this.#damaged)
    const logNumber = numbers.take()
    const log = createLog(fileSystem, directory, logNumber)
    try {
      await log.sync()
    } finally {
      log.close()
    }
    await fileSystem.syncDirectory(directory)
    const number = numbers.take()
    const manifest = await createManifest(fileSystem, directory, number, {
      ...state,
      comparator: comparatorName,
      logNumber,
      nextFileNumber: numbers.next
    })
    manifest.close()
    await writeCurrent(fileSystem, directory, number)
    const moved = lost.finish()
    await fileSystem.syncDirectory(directory)
    return moved
  }

  /** Numbers of the logs with entries that are not in tables. @param first the oldest one; 0: no lower bound */
  #logsFrom(first: number): number[] {
    const { directory, losses } = this.#settings
    const numbers = this.#numbersOf('log').filter((number) => number >= first)
    if (first > 0 && numbers[0] !== first) losses.add(join(directory, logName(first)), 'the log is missing')
    return numbers
  }

  #numbersOf(kind: 'table' | 'log'): number[] {
    const found = this.#names.flatMap((name) => parseFileName(name) ?? []).filter((file) => file.kind === kind)
    return found.map(({ number }) => number).sort((a, b) => a - b)
  }
}
