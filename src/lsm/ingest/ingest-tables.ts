/**
 * Writes tables for a store to ingest, in any thread: entries are collected in memory and flushed like a memtable, but
 * without log and memtable. The tables become part of the store only with Ingest.install().
 *
 * Invariants:
 * 1. Each of the given file numbers is used at most once.
 * 2. While the tables of one flush are being synced, the next one is filled; with two flushes in progress, the older
 *    has to be durable before a third is written.
 */
import { join } from 'node:path'
import { copyShared } from '../../model/copy-bytes.ts'
import { kernelMemory } from '../compaction/flush-kernel/flush-kernel.ts'
import type { TableJob, TableJobResult } from '../compaction/job.ts'
import { unpaced } from '../compaction/job-queue.ts'
import { runTableJob } from '../compaction/run-table-job.ts'
import { notSupported } from '../errors.ts'
import { EntryKind, EntryRecord } from '../format/entry.ts'
import { tableName } from '../fs/file-names.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { Arena, ArenaPool, slabBytes } from '../memtable/arena.ts'
import { EntryList, entryBytes } from '../memtable/entry-list.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { IngestPlan } from './ingest-plan.ts'

/** Number of flushes whose tables may be being synced. */
const maxSyncing = 2

/** Memory kept by the thread for later ingests, where flushes find entries in place. It never leaves this thread. */
const maxIdleBytes = 36 << 20
const arenas = new ArenaPool(
  maxIdleBytes,
  (bytes) => (bytes === slabBytes ? kernelMemory(bytes) : undefined) ?? Buffer.allocUnsafeSlow(bytes)
)

const nothing: Buffer = Buffer.alloc(0)

/**
 * Thresholds in bytes: from `longLoop` on, set() beats a loop; from `longSet` on, the cost of set() for a shared
 * source is too high.
 */
const longLoop = 16
const longSet = 2048

/** A run of entries. `values` may have gaps between the values, which are copied as well. */
export interface EntryRun {
  readonly count: number
  /** The keys, contiguous. */
  readonly keys: Uint8Array
  /** End offset of each key. */
  readonly keyEnds: Uint32Array
  readonly values: Uint8Array
  /** Start and end offset of each value, alternating and ascending; the run's first value is number `firstPlace`. */
  readonly valuePlaces: Uint32Array
  readonly firstPlace: number
}

export class IngestTables {
  readonly #plan: IngestPlan
  readonly #fileSystem: FileSystem
  #firstNumber: number
  readonly #endNumber: number
  #arena = new Arena(arenas)
  #entries = new EntryList(this.#arena)
  /** Number of the arena's last chunk, its bytes, and how many are used. */
  #chunk = 0
  #bytes = nothing
  #at = 0
  readonly #entry = new EntryRecord()
  /** The flushes in sequence. */
  #writing: Promise<void> = Promise.resolve()
  /** All flushes so far, in order; each resolves when its tables are durable. */
  readonly #flushes: Promise<TableJobResult>[] = []

  /** @param numbers count of file numbers from `firstNumber` on: one for each partition of each flush */
  constructor(plan: IngestPlan, firstNumber: number, numbers: number, fileSystem: FileSystem) {
    this.#plan = plan
    this.#fileSystem = fileSystem
    this.#firstNumber = firstNumber
    this.#endNumber = firstNumber + numbers
    this.#entry.kind = EntryKind.put
    this.#entry.sequence = plan.sequence
  }

  /** Bytes in memory that are not in any flush yet. */
  get bytes(): number {
    return this.#arena.usedBytes + this.#entries.length * entryBytes
  }

  /**
   * Adds an entry, whose key is the concatenation of prefix and key. Copies everything.
   * REQUIRES: the key was never added before, by this or another writer of the same ingest.
   */
  put(prefix: Uint8Array, key: Uint8Array, value: Uint8Array): void {
    const bytes = prefix.length + key.length + value.length
    if (this.#bytes.length - this.#at < bytes) this.#reserve(bytes)
    const target = this.#bytes
    const entry = this.#entry
    const keyStart = this.#at
    const keyAt = keyStart + prefix.length
    const keyEnd = keyAt + key.length
    const valueEnd = keyEnd + value.length
    copyAll(prefix, target, keyStart)
    copyAll(key, target, keyAt)
    copyAll(value, target, keyEnd)
    entry.keyStart = keyStart
    entry.keyEnd = keyEnd
    entry.valueStart = keyEnd
    entry.valueEnd = valueEnd
    // Keys are distinct: no key is looked up by its hash.
    this.#entries.addKey(this.#chunk, entry, 0)
    this.#arena.commit(valueEnd)
    this.#at = valueEnd
  }

  /**
   * As put() for each entry of a run: all keys and all values are copied at once.
   * REQUIRES: as put()
   */
  putRun({ count, keys, keyEnds, values, valuePlaces, firstPlace }: EntryRun): void {
    const valuesFrom = valuePlaces[2 * firstPlace]!
    const valuesTo = valuePlaces[2 * (firstPlace + count) - 1]!
    const keyBytes = keyEnds[count - 1]!
    const bytes = keyBytes + valuesTo - valuesFrom
    this.#reserve(bytes)
    const start = this.#at
    const valuesAt = start + keyBytes
    copyAll(keys.subarray(0, keyBytes), this.#bytes, start)
    copyAll(values.subarray(valuesFrom, valuesTo), this.#bytes, valuesAt)
    const entry = this.#entry
    let keyStart = start
    for (let i = 0; i < count; i++) {
      entry.keyStart = keyStart
      keyStart = start + keyEnds[i]!
      entry.keyEnd = keyStart
      const place = 2 * (firstPlace + i)
      entry.valueStart = valuesAt + valuePlaces[place]! - valuesFrom
      entry.valueEnd = valuesAt + valuePlaces[place + 1]! - valuesFrom
      this.#entries.addKey(this.#chunk, entry, 0)
    }
    this.#arena.commit(start + bytes)
    this.#at = start + bytes
  }

  /**
   * Writes the entries in memory as tables, one for each partition; their syncs may still be in progress afterwards.
   * @param endAfter keys, ascending, after which a table also ends: a separate table may then overlap no other
   * @throws LEVEL_IO_ERROR, also of earlier flushes; LEVEL_NOT_SUPPORTED if there are no file numbers left
   */
  flush(endAfter: readonly Uint8Array[] = []): Promise<void> {
    if (this.#entries.length > 0) {
      const [arena, entries] = [this.#arena, this.#entries]
      this.#begin()
      this.#writing = this.#writing
        .then(() => this.#write(arena, entries, endAfter))
        .finally(() => {
          entries.release()
          arena.release()
        })
    }
    return this.#writing
  }

  /**
   * Writes the rest, like flush(). REQUIRES: nothing is added afterwards.
   * @returns all tables, which are durable except for their names
   * @throws LEVEL_IO_ERROR, LEVEL_NOT_SUPPORTED: some tables may exist, see discard()
   */
  async finish(endAfter: readonly Uint8Array[] = []): Promise<readonly TableMeta[]> {
    await this.flush(endAfter)
    this.#entries.release()
    const results = await Promise.all(this.#flushes)
    return results.flatMap(({ tables }) => tables)
  }

  /**
   * Discards the entries in memory and removes the tables written. Leftovers are removed when the store is opened.
   * REQUIRES: install() was not called with these tables, or has resolved to false. If it rejected, whether the
   * manifest refers to them is unknown.
   */
  async discard(): Promise<void> {
    this.#entries.release()
    this.#arena.release()
    this.#begin()
    await this.#writing.catch(() => undefined)
    // A failed flush has removed its tables itself.
    for (const flush of await Promise.allSettled(this.#flushes)) {
      for (const { number } of flush.status === 'fulfilled' ? flush.value.tables : []) {
        try {
          this.#fileSystem.remove(join(this.#plan.directory, tableName(number)))
        } catch {
          // See above.
        }
      }
    }
  }

  #begin(): void {
    this.#arena = new Arena(arenas)
    this.#entries = new EntryList(this.#arena)
    this.#bytes = nothing
    this.#at = 0
  }

  #reserve(bytes: number): void {
    const reserved = this.#arena.reserve(bytes)
    this.#chunk = reserved.chunk
    this.#bytes = reserved.bytes
    this.#at = reserved.offset
  }

  /** Resolves when the entries are in files, whether durable or not. */
  async #write(arena: Arena, entries: EntryList, endAfter: readonly Uint8Array[]): Promise<void> {
    await this.#flushes.at(-maxSyncing)
    const job = this.#jobOf(arena, entries, endAfter)
    await new Promise<void>((resolve, reject) => {
      const onWritten = (tables: number): void => {
        this.#firstNumber += tables
        resolve()
      }
      const flush = runTableJob(job, this.#fileSystem, unpaced, onWritten)
      this.#flushes.push(flush)
      flush.catch(reject)
    })
  }

  #jobOf(arena: Arena, entries: EntryList, endAfter: readonly Uint8Array[]): TableJob {
    const { directory, partitions, table } = this.#plan
    const reservedNumbers = this.#endNumber - this.#firstNumber
    if (reservedNumbers === 0) throw notSupported('An ingest needs more file numbers than were reserved for it')
    const memtable = { chunks: arena.snapshot(), entries: entries.view() }
    return {
      kind: 'flush',
      directory,
      memtables: [memtable],
      runs: [],
      snapshots: [],
      deeper: undefined,
      grandparents: [],
      maxGrandparentBytes: Number.POSITIVE_INFINITY,
      endAfter,
      firstNumber: this.#firstNumber,
      reservedNumbers,
      maxFileBytes: Number.POSITIVE_INFINITY,
      partitions,
      table
    }
  }
}

/** Copies the whole source to target[at, …); the target's memory is not shared. */
function copyAll(source: Uint8Array, target: Buffer, at: number): void {
  const { length } = source
  if (length >= longSet) copyShared(source, target, at)
  else if (length >= longLoop) target.set(source, at)
  else for (let i = 0; i < length; i++) target[at + i] = source[i]!
}
