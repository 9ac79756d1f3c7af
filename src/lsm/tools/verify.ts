/**
 * Checks everything that an open store relies on, from the files themselves: CURRENT, manifest and logs are readable;
 * levels are in order, and nothing newer is below something older; every block of every table has a valid checksum,
 * and every entry is in order; no filter denies a present key or value, and the filter index covers the tables.
 *
 * Reads and writes continue meanwhile: the check covers one view, and the files at the time they are read.
 */
import { join } from 'node:path'
import type { Engine } from '../engine/engine.ts'
import type { EngineReadView } from '../engine/engine-read-view.ts'
import { isTurnLong, nextTurn } from '../engine/event-loop-turn.ts'
import { aborted, ioError } from '../errors.ts'
import { BlockCursor } from '../format/block-cursor.ts'
import { tableName } from '../fs/file-names.ts'
import type { OpenFile } from '../fs/file-system.ts'
import type { Cancellation } from '../value/attached.ts'
import { loadFilters } from '../value/lookup.ts'
import type { Values } from '../value/values.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { checkLogs, checkManifest } from './check-files.ts'
import { checkLevels } from './check-levels.ts'
import { checkShadowing } from './check-shadowing.ts'
import { TableCheck } from './check-table.ts'
import { ValuesCheck } from './check-values.ts'
import { type Problem, ProblemList } from './problems.ts'

export interface VerifyOptions {
  /** Called after every table. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
  /** Aborts with LEVEL_ABORTED. */
  readonly signal?: AbortSignal | undefined
}

type Options = Omit<VerifyOptions, 'signal'> & { readonly signal?: Cancellation | undefined }

export interface VerifyProgress {
  /** Tables checked so far, and their total number. */
  readonly tables: number
  readonly totalTables: number
  /** Bytes of those tables. */
  readonly bytes: number
  readonly totalBytes: number
}

export interface VerifyReport {
  /** Totals of what was read. */
  readonly tables: number
  readonly bytes: number
  readonly entries: number
  /** Empty if all is well; at most a thousand. */
  readonly problems: readonly Problem[]
  /** The number of all problems. */
  readonly problemCount: number
}

/** An open store. */
export interface VerifyTarget {
  readonly engine: Engine
  /** Undefined for a store without value filters. */
  readonly values: Values | undefined
  /** The view to check, released at the end. Default: the state at the call. */
  readonly view?: EngineReadView
}

/** @throws LEVEL_ABORTED; problems of the store are reported, not thrown */
export async function verify(target: VerifyTarget, options: Options = {}): Promise<VerifyReport> {
  const view = target.view ?? target.engine.view()
  try {
    return await new Verification(target, view, options).run()
  } finally {
    view.release()
  }
}

class Verification {
  readonly #target: VerifyTarget
  readonly #view: EngineReadView
  readonly #options: Options
  readonly #problems = new ProblemList()
  /** Numbers of tables that cannot be read completely. */
  readonly #damaged = new Set<number>()
  #tables = 0
  #bytes = 0
  #entries = 0

  constructor(target: VerifyTarget, view: EngineReadView, options: Options) {
    this.#target = target
    this.#view = view
    this.#options = options
  }

  async run(): Promise<VerifyReport> {
    const { engine } = this.#target
    const { directory, fileSystem, versions } = engine
    const { version } = this.#view
    const problems = this.#problems
    checkManifest(fileSystem, directory, problems)
    checkLevels(version.levels, directory, problems)
    const inUse = () => ({
      logNumbers: engine.logNumbers.filter((number) => number >= versions.logNumber),
      lastSequence: versions.lastSequence,
      sequence: engine.sequence
    })
    await this.#drive(checkLogs(fileSystem, directory, inUse, problems))
    const values = await this.#loadedValues()
    for (const meta of version.allTables()) await this.#checkTable(meta, values)
    await this.#drive(checkShadowing(this.#view, this.#damaged, fileSystem, directory, problems))
    return {
      tables: this.#tables,
      bytes: this.#bytes,
      entries: this.#entries,
      problems: problems.problems,
      problemCount: problems.count
    }
  }

  async #checkTable(meta: TableMeta, values: Values | undefined): Promise<void> {
    const { directory, fileSystem } = this.#target.engine
    const path = join(directory, tableName(meta.number))
    let isReadable = false
    let file: OpenFile | undefined
    try {
      file = fileSystem.open(path, 'read')
      const check = TableCheck.open(file, meta, this.#problems)
      if (check !== undefined) {
        await this.#drive(check.run(values && this.#valuesCheck(values, meta, check)))
        this.#entries += check.tally.entries
        isReadable = check.isReadable
      }
    } catch (error) {
      if (this.#options.signal?.aborted === true) throw error
      this.#problems.addError('table', path, isSystemError(error) ? ioError(`Cannot read ${path}`, error) : error)
    } finally {
      file?.close()
    }
    if (!isReadable) this.#damaged.add(meta.number)
    this.#tables++
    this.#bytes += meta.bytes
    const { tableCount: totalTables, bytes: totalBytes } = this.#view.version
    this.#options.onProgress?.({ tables: this.#tables, totalTables, bytes: this.#bytes, totalBytes })
  }

  #valuesCheck(values: Values, meta: TableMeta, { table }: TableCheck): ValuesCheck | undefined {
    const source = {
      blockCount: table.index.count,
      section: (name: string) => table.section(name),
      blockCursor: (block: number) => {
        const cursor = new BlockCursor()
        cursor.load(table.readBlock(block))
        return cursor
      }
    }
    return ValuesCheck.open(values, this.#view, meta, source, this.#problems)
  }

  /** The value filters, loaded into memory as far as they are readable; unreadable ones are found table by table. */
  async #loadedValues(): Promise<Values | undefined> {
    const { values, engine } = this.#target
    if (values === undefined) return undefined
    values.follow(this.#view)
    try {
      await loadFilters(values, this.#view, this.#options.signal)
    } catch (error) {
      if (this.#options.signal?.aborted === true) throw error
      this.#problems.addError('filter-index', engine.directory, error)
    }
    this.#checkIndex(values)
    return values
  }

  /** A query without pairs must yield every table, and no other. */
  #checkIndex(values: Values): void {
    const expected = new Set([...this.#view.version.allTables()].map(({ number }) => number))
    const found = values.candidates(this.#view, new Int32Array(0)).map(({ meta }) => meta.number)
    for (const number of found) {
      if (expected.delete(number)) continue
      this.#addIndexProblem(`contains table ${number}, which is not in the version`)
    }
    for (const number of expected) this.#addIndexProblem(`does not contain table ${number}`)
  }

  #addIndexProblem(what: string): void {
    this.#problems.add('filter-index', this.#target.engine.directory, `the filter index ${what}`)
  }

  async #drive(steps: Generator<void, void>): Promise<void> {
    const { signal } = this.#options
    for (const _ of steps) {
      if (isTurnLong()) await nextTurn()
      if (signal?.aborted === true) throw aborted(signal.reason)
    }
  }
}

function isSystemError(error: unknown): boolean {
  const { code } = error as { readonly code?: string }
  return code !== undefined && !code.startsWith('LEVEL_')
}
