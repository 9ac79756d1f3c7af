/**
 * Manages the tables that a job writes, and their side files: begins, ends and syncs them, and removes them if the job
 * fails.
 *
 * Invariants:
 * 1. A table is in the result only after its contents are durable and its file is closed.
 * 2. After discard() none of the files exist, as far as the file system allows their removal.
 */
import { join } from 'node:path'
import type { EntryRanges } from '../format/entry.ts'
import { TableBuilder } from '../format/table-builder.ts'
import { sideFileName, tableName, temporaryName } from '../fs/file-names.ts'
import type { FileSystem, OpenFile } from '../fs/file-system.ts'
import type { ValueCollector } from '../value/section-collector.ts'
import { writeSideFile } from '../value/side-file.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { TableJob } from './job.ts'
import { jobError } from './job-errors.ts'

/** Syncs that may be in progress while the next table is being written. */
const maxPendingSyncs = 4

/** Builds a table, from entries it is given or by itself. */
export interface TableWriter {
  /** Approximate current size of the table. */
  readonly fileBytes: number
  /** Bytes of keys and values in the table so far. */
  readonly rawBytes: number
  /** Writes the rest of the table. @throws LEVEL_IO_ERROR */
  finish(): TableMeta
}

interface Output {
  readonly file: OpenFile
  readonly writer: TableWriter
  readonly collector: ValueCollector | undefined
}

export class TableOutputs {
  readonly #job: TableJob
  readonly #fileSystem: FileSystem
  readonly #createCollector: (() => ValueCollector) | undefined
  readonly #tables: TableMeta[] = []
  readonly #begun: { readonly file: OpenFile; readonly number: number }[] = []
  #pendingSyncs: Promise<void>[] = []
  #endedRawBytes = 0
  #current: Output | undefined
  /** Builder of the open table, if entries are added to it. */
  #builder: TableBuilder | undefined

  /** @param createCollector creates the value collector of a table; undefined: no value filters */
  constructor(job: TableJob, fileSystem: FileSystem, createCollector: (() => ValueCollector) | undefined) {
    this.#job = job
    this.#fileSystem = fileSystem
    this.#createCollector = createCollector
  }

  /** Number of tables begun: that many of the job's numbers are used. */
  get count(): number {
    return this.#begun.length
  }

  get isOpen(): boolean {
    return this.#current !== undefined
  }

  /**
   * The table with the last reserved number takes all remaining entries: an oversized table is better than a job that
   * cannot end.
   */
  get isLast(): boolean {
    return this.#begun.length >= this.#job.reservedNumbers
  }

  /** Whether the open table has reached its target size. */
  get isFull(): boolean {
    return this.#current !== undefined && this.#current.writer.fileBytes >= this.#job.maxFileBytes
  }

  /** Bytes of keys and values written so far. */
  get rawBytes(): number {
    return this.#endedRawBytes + (this.#current?.writer.rawBytes ?? 0)
  }

  /** Adds an entry; begins a table if none is open. */
  add(entry: EntryRanges): void {
    const builder = this.#builder ?? this.#beginBuilder()
    builder.add(entry)
  }

  /**
   * Begins a table that its writer fills by itself. REQUIRES: none is open.
   * @param collector value collector of the table
   */
  begin<T extends TableWriter>(create: (file: OpenFile, number: number) => T, collector?: ValueCollector): T {
    const number = this.#job.firstNumber + this.#begun.length
    const file = this.#create(number)
    const writer = create(file, number)
    this.#current = { file, writer, collector }
    return writer
  }

  /** Ends the open table, if any; its sync continues. */
  end(): void {
    const output = this.#current
    if (output === undefined) return
    const table = output.writer.finish()
    this.#tables.push(table)
    this.#endedRawBytes += table.rawBytes
    this.#current = undefined
    this.#builder = undefined
    this.#await(syncAndClose(output.file))
    const sections = output.collector?.sideSections ?? []
    if (sections.length > 0) this.#await(writeSideFile(this.#fileSystem, this.#job.directory, table, sections))
  }

  /** Await before writing more, if the device lags behind. */
  get backlog(): Promise<void> | undefined {
    return this.#pendingSyncs.length > maxPendingSyncs ? this.#pendingSyncs.shift() : undefined
  }

  /** Ends the open table and waits until all tables are durable. */
  async finish(): Promise<readonly TableMeta[]> {
    this.end()
    await Promise.all(this.#pendingSyncs)
    this.#pendingSyncs = []
    return this.#tables
  }

  async discard(): Promise<void> {
    await Promise.allSettled(this.#pendingSyncs)
    for (const { file, number } of this.#begun) {
      try {
        file.close()
      } catch {
        // Report the job's own error, not one of cleaning up.
      }
      this.#remove(file.path)
      if (this.#job.table.values?.placement !== 'side-file') continue
      for (const name of [sideFileName(number), temporaryName(number)]) this.#remove(join(this.#job.directory, name))
    }
  }

  #beginBuilder(): TableBuilder {
    const collector = this.#createCollector?.()
    this.#builder = this.begin((file, number) => new TableBuilder(file, number, this.#job.table, collector), collector)
    return this.#builder
  }

  #create(number: number): OpenFile {
    const path = join(this.#job.directory, tableName(number))
    let file: OpenFile
    try {
      file = this.#fileSystem.open(path, 'create')
    } catch (error) {
      throw jobError('Creating a table failed', error, path)
    }
    this.#begun.push({ file, number })
    // A crash may have left the side file of another table with this number that was never installed.
    this.#remove(join(this.#job.directory, sideFileName(number)))
    return file
  }

  #await(sync: Promise<void>): void {
    // The code that awaits it gets the error; until then it must not count as unhandled.
    sync.catch(() => {})
    this.#pendingSyncs.push(sync)
  }

  #remove(path: string): void {
    try {
      this.#fileSystem.remove(path)
    } catch {
      // No manifest refers to it: the next open removes it.
    }
  }
}

async function syncAndClose(file: OpenFile): Promise<void> {
  try {
    await file.sync()
    file.close()
  } catch (error) {
    throw jobError('Syncing a table failed', error, file.path)
  }
}
