/**
 * Flushes in WebAssembly: memtables are copied into its memory, sorted there and made into blocks. What takes JavaScript a
 * dozen functions, which a new thread runs uncompiled at first and compiles several times over, is fast at once there, and
 * takes about half as much of the processor later.
 *
 * Memory, from `heapStart` on: the entries, what orders them, the chunks of arenas, then what becomes of them. Before it
 * are the areas of LZ4.
 *
 * Invariants:
 * 1. What it writes is what JobMerge and TableBuilder would write of the same memtables, byte by byte.
 * 2. A kernel does one job at a time; its memory is used again by jobs to come.
 */
import { crc32 } from 'node:zlib'
import { type GrowingWasmMemory, webAssembly } from '../../../bloom/kernels/web-assembly.ts'
import { copyShared } from '../../../model/copy-bytes.ts'
import { filterBits } from '../../format/key-filter.ts'
import { chunkBytes } from '../../format/lz4/lz4.ts'
import type { TableWriteOptions } from '../../format/table-options.ts'
import { entryWords } from '../../memtable/entry-list.ts'
import type { MemtableSnapshot, TableJob } from '../job.ts'
import { flushKernelBase64 } from './flush-kernel.generated.ts'
import type { KernelFunctions } from './kernel-functions.ts'

const heapStart = 0xb0000
const pageBytes = 0x10000
const maxPages = 2048
/** Of one job. Larger ones go the way of tables: their memory would be held twice. */
const maxBytes = 96 << 20
/** Loads and copies go beyond what they need, by less than this. */
const slack = 64
/** What build() says is worth writing, see assembly/index.ts. */
const outputBytes = 0x40000
const checksumBytes = 4

/** Kernels without a job, kept by the thread for those to come: one of a document store. */
const idle: FlushKernel[] = []
const maxIdleBytes = 36 << 20

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1
let module: object | null | undefined

/** A key that a table ends behind, in the kernel's memory. */
interface EndKey {
  readonly at: number
  readonly length: number
}

export class FlushKernel {
  readonly functions: KernelFunctions
  readonly #memory: GrowingWasmMemory
  /** All of its memory; another array after each load(). */
  bytes: Buffer
  /** Of the job's `endAfter`. */
  endKeys: readonly EndKey[] = []
  /** Room for the bits of a key filter. */
  #filterAt = 0
  /** Where the output begins, and where it is kept where its blocks end. */
  #outputAt = 0
  #blockEndsAt = 0
  #handlesAt = 0
  #separatorsAt = 0
  #snapshotsAt = 0
  #snapshots = 0
  /** Where the part of the memory ends that is laid out. */
  #end = heapStart

  constructor(functions: KernelFunctions, memory: GrowingWasmMemory) {
    this.functions = functions
    this.#memory = memory
    this.bytes = Buffer.from(memory.buffer)
  }

  /**
   * A kernel that has the memtables of a job, not sorted yet; undefined for a job that it cannot do: one that reads tables,
   * whose values are looked into, or that is too large for it.
   */
  static take(job: TableJob): FlushKernel | undefined {
    if (!isFor(job)) return undefined
    const kernel = idle.pop() ?? newKernel()
    if (kernel === undefined || kernel.#load(job)) return kernel
    kernel.release()
    return undefined
  }

  /** REQUIRES: orderSome() has said that there is no more to do. */
  begin(): void {
    this.functions.begin(this.#snapshotsAt, this.#snapshots)
  }

  /** Nobody uses it any more. Large memory is not kept. */
  release(): void {
    this.endKeys = []
    const idleBytes = idle.reduce((sum, { bytes }) => sum + bytes.length, this.bytes.length)
    if (idleBytes <= maxIdleBytes) idle.push(this)
  }

  /**
   * What build() has put out, checksums included: zlib makes them many times as fast as WebAssembly can. Once for each output.
   * REQUIRES: no block is being built.
   */
  sealOutput(): Buffer {
    const output = this.bytes.subarray(this.#outputAt, this.#outputAt + this.functions.outputBytes())
    const ends = new Uint32Array(this.bytes.buffer, this.#blockEndsAt, this.functions.outputBlocks.value)
    let start = 0
    for (const end of ends) {
      const at = end - checksumBytes
      // Where it is to be, the kernel has left what it begins with.
      output.writeUInt32LE(crc32(output.subarray(start, at), output.readUInt32LE(at)), at)
      start = end
    }
    return output
  }

  range(at: number, length: number): Buffer {
    return this.bytes.subarray(at, at + length)
  }

  /** Index of the table's blocks, as BlockIndexBuilder makes it. */
  index(): Uint8Array {
    const { blockCount, separatorBytes } = this.functions
    const handleBytes = blockCount.value * 8
    const index = Buffer.allocUnsafeSlow(4 + handleBytes + separatorBytes.value)
    index.writeUInt32LE(blockCount.value, 0)
    index.set(this.range(this.#handlesAt, handleBytes), 4)
    index.set(this.range(this.#separatorsAt, separatorBytes.value), 4 + handleBytes)
    return index
  }

  /** Sets the bits of the table's keys. @param target as many bytes as `bits` need */
  fillFilter(target: Uint8Array, bits: number, probes: number): void {
    const filter = this.range(this.#filterAt, target.length).fill(0)
    this.functions.fillFilter(this.#filterAt, bits, probes)
    target.set(filter)
  }

  /** False when there is no memory for it, or an entry is too large for a block of the kernel's. */
  #load({ memtables, endAfter, snapshots, table }: TableJob): boolean {
    const { functions } = this
    const entries = memtables.reduce((sum, memtable) => sum + memtable.entries.length / entryWords, 0)
    this.#end = heapStart
    const entriesAt = this.#room(entries * entryWords * 4)
    const nextAt = this.#room(entries * 4)
    const pairsAt = this.#room(entries * 8)
    const places = memtables.map(({ chunks }) => chunks.map(({ usedBytes }) => this.#room(usedBytes)))
    const chunksAt = this.#room(4 * Math.max(...memtables.map(({ chunks }) => chunks.length)))
    if (!this.#grow()) return false

    functions.setEntries(entriesAt)
    let entry = 0
    for (const [i, memtable] of memtables.entries()) {
      new Uint32Array(this.bytes.buffer, chunksAt).set(places[i] ?? [])
      new Int32Array(this.bytes.buffer, entriesAt + entry * entryWords * 4).set(memtable.entries)
      const end = entry + memtable.entries.length / entryWords
      functions.relocate(entry, end, chunksAt)
      entry = end
    }
    const largest = functions.largestEntry.value
    if (table.blockBytes + largest + slack > chunkBytes) return false

    this.#placeResults(entries, functions.keyBytes.value, largest, table)
    const snapshotsAt = this.#room(snapshots.length * 8)
    this.endKeys = endAfter.map(({ length }) => ({ at: this.#room(length), length }))
    if (!this.#grow()) return false
    for (const [i, { chunks }] of memtables.entries()) {
      for (const [number, { buffer, start, usedBytes }] of chunks.entries()) {
        copyShared(new Uint8Array(buffer, start, usedBytes), this.bytes, places[i]![number]!)
      }
    }
    new Float64Array(this.bytes.buffer, snapshotsAt).set(snapshots)
    for (const [i, key] of endAfter.entries()) this.bytes.set(key, this.endKeys[i]!.at)
    functions.setOrder(entries, nextAt, pairsAt)
    this.#snapshotsAt = snapshotsAt
    this.#snapshots = snapshots.length
    return true
  }

  #placeResults(entries: number, keyBytes: number, largest: number, table: TableWriteOptions): void {
    const { functions } = this
    const { blockBytes, restartInterval, codec, keyFilterBits } = table
    functions.setHashes(this.#room(entries * 8))
    this.#handlesAt = this.#room(entries * 8)
    const restartsAt = this.#room(entries * 4)
    this.#separatorsAt = this.#room(keyBytes)
    this.#filterAt = this.#room(keyFilterBits > 0 ? Math.ceil(filterBits(entries, keyFilterBits) / 8) : 0)
    // A block that is begun below the limit, and a large one behind it.
    this.#outputAt = this.#room(outputBytes + 2 * (blockBytes + largest + slack))
    this.#blockEndsAt = this.#room(entries * 4)
    functions.setBlocks(this.#outputAt, this.#blockEndsAt, restartsAt, this.#handlesAt, this.#separatorsAt)
    functions.setBlockOptions(Math.max(1, blockBytes), Math.max(1, restartInterval), codec === 'lz4')
  }

  /** Lays out so many bytes. */
  #room(bytes: number): number {
    const at = this.#end
    this.#end = (at + bytes + 7) & ~7
    return at
  }

  /** Makes sure of all that is laid out; false when there is no memory for it. */
  #grow(): boolean {
    const missing = this.#end + slack - this.bytes.length
    if (missing <= 0) return true
    try {
      this.#memory.grow(Math.ceil(missing / pageBytes))
    } catch {
      return false
    }
    this.bytes = Buffer.from(this.#memory.buffer)
    return true
  }
}

function isFor({ runs, memtables, table, maxFileBytes, grandparents, deeper }: TableJob): boolean {
  const isPlainFlush = runs.length === 0 && memtables.length > 0 && grandparents.length === 0 && deeper === undefined
  const hasTablesWithoutLimit = maxFileBytes === Number.POSITIVE_INFINITY && table.values === undefined
  return isPlainFlush && hasTablesWithoutLimit && bytesOf(memtables) <= maxBytes
}

function bytesOf(memtables: readonly MemtableSnapshot[]): number {
  let bytes = 0
  for (const { chunks, entries } of memtables) {
    bytes += entries.byteLength
    for (const { usedBytes } of chunks) bytes += usedBytes
  }
  return bytes
}

/** Undefined where there is no address space for one, either. */
function newKernel(): FlushKernel | undefined {
  const code = compiled()
  if (code === undefined || webAssembly === undefined) return undefined
  try {
    const memory = new webAssembly.Memory({ initial: heapStart / pageBytes, maximum: maxPages })
    const { exports } = new webAssembly.Instance(code, { env: { memory } })
    return new FlushKernel(exports as KernelFunctions, memory)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Undefined where there is no WebAssembly with 128-bit SIMD, and where numbers are not in its byte order. */
function compiled(): object | undefined {
  if (module === undefined) {
    const code = Buffer.from(flushKernelBase64, 'base64')
    module = isLittleEndian && webAssembly?.validate(code) ? new webAssembly.Module(code) : null
  }
  return module ?? undefined
}
