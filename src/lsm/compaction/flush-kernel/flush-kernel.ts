/**
 * Flushes in WebAssembly: memtables are copied into its memory, sorted there and turned into blocks. In JavaScript
 * this takes a dozen functions, which a new thread first runs uncompiled and then compiles several times; WebAssembly
 * is fast at once, and later takes about half the CPU time.
 *
 * Memory from `heapStart` on: the entries, their sort order, the arena chunks, then the results. LZ4's table
 * and its input, where blocks are built, come before it. A kernel made by kernelMemory() has the chunks first: they are
 * written there and never copied.
 *
 * Invariants:
 * 1. The output is byte for byte what JobMerge and TableBuilder would write for the same memtables.
 * 2. A kernel runs one job at a time; later jobs reuse its memory.
 * 3. Memory that was handed out never moves: its size is its maximum, so that it cannot grow.
 */
import { crc32 } from 'node:zlib'
import { copyShared } from '../../../model/copy-bytes.ts'
import { compileModule, type GrowingWasmMemory, webAssembly } from '../../../model/web-assembly.ts'
import { filterBits } from '../../format/key-filter.ts'
import { chunkBytes, maxCompressedBytes } from '../../format/lz4/lz4.ts'
import type { TableWriteOptions } from '../../format/table-options.ts'
import { entryWords } from '../../memtable/entry-list.ts'
import type { ArenaChunk, MemtableSnapshot, TableJob } from '../job.ts'
import { flushKernelBase64 } from './flush-kernel.generated.ts'
import type { KernelFunctions } from './kernel-functions.ts'

const heapStart = 0x60000
const pageBytes = 0x10000
const maxPages = 2048
/** Limit for one job. Larger ones take the general path, because their memory would be held twice. */
const maxBytes = 96 << 20
/** Loads and copies overrun their operands by less than this. */
const slack = 64
/** The output size at which build() returns outputFull, see assembly/index.ts. */
const outputBytes = 0x40000
/** By how much a block may exceed its entries while LZ4 writes it. */
const maxGrowth = maxCompressedBytes - chunkBytes + slack
const checksumBytes = 4
/** Working memory next to memory handed out: enough for 100,000 small entries. */
const workBytes = 16 << 20

/** Idle kernels, kept by the thread for later jobs: enough for one document store. */
let idle: FlushKernel[] = []
const maxIdleBytes = 36 << 20

/** The kernels whose memory was handed out, by its buffer. */
const owners = new WeakMap<object, FlushKernel>()

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1
let module: object | null | undefined

/** A key after which a table ends, in the kernel's memory. */
interface EndKey {
  readonly at: number
  readonly length: number
}

export class FlushKernel {
  readonly functions: KernelFunctions
  readonly #memory: GrowingWasmMemory
  /** The whole memory; a new buffer after each load(). */
  bytes: Buffer
  /** The keys of the job's `endAfter`. */
  endKeys: readonly EndKey[] = []
  /** Area for the bits of a key filter. */
  #filterAt = 0
  /** Addresses of the output and of the table of its blocks' ends. */
  #outputAt = 0
  #blockEndsAt = 0
  #handlesAt = 0
  #separatorsAt = 0
  #snapshotsAt = 0
  #snapshots = 0
  /** Where areas are laid out from, and the end of those laid out so far. */
  readonly #areasStart: number
  #end: number
  #isBusy = false

  /** @param handedOut bytes from `heapStart` on that are not the kernel's */
  constructor(functions: KernelFunctions, memory: GrowingWasmMemory, handedOut = 0) {
    this.functions = functions
    this.#memory = memory
    this.bytes = Buffer.from(memory.buffer)
    this.#areasStart = heapStart + aligned(handedOut)
    this.#end = this.#areasStart
  }

  /**
   * Returns a kernel loaded with a job's memtables, not sorted yet; undefined if it cannot do the job: one that reads
   * tables, needs value filters, or is too large.
   */
  static take(job: TableJob): FlushKernel | undefined {
    if (!supports(job)) return undefined
    const owner = ownerOf(job)
    if (owner !== undefined && !owner.#isBusy && owner.#load(job)) return owner
    const kernel = idle.pop() ?? newKernel()
    if (kernel === undefined || kernel.#load(job)) return kernel
    kernel.release()
    return undefined
  }

  /** Memory of kernels that wait for a job in this thread. */
  static get idleBytes(): number {
    return idle.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  /** Frees that memory: this thread will hardly flush again. */
  static freeIdle(): void {
    idle = []
  }

  /** REQUIRES: orderSome() has returned 0. */
  begin(): void {
    this.functions.begin(this.#snapshotsAt, this.#snapshots)
  }

  /** Ends the job: the kernel can do another one. Large memory is not retained, unless it was handed out. */
  release(): void {
    this.endKeys = []
    this.#isBusy = false
    const isHandedOut = this.#areasStart > heapStart
    if (isHandedOut) return
    if (FlushKernel.idleBytes + this.bytes.length <= maxIdleBytes) idle.push(this)
  }

  /**
   * The output of build(), with checksums filled in: zlib computes them many times as fast as WebAssembly can. Call
   * once per output.
   * REQUIRES: no block is under construction.
   */
  sealOutput(): Buffer {
    const output = this.bytes.subarray(this.#outputAt, this.#outputAt + this.functions.outputBytes())
    const ends = new Uint32Array(this.bytes.buffer, this.#blockEndsAt, this.functions.outputBlocks.value)
    let start = 0
    for (const end of ends) {
      const at = end - checksumBytes
      // The kernel has left the seed where the checksum goes.
      output.writeUInt32LE(crc32(output.subarray(start, at), output.readUInt32LE(at)), at)
      start = end
    }
    return output
  }

  range(at: number, length: number): Buffer {
    return this.bytes.subarray(at, at + length)
  }

  /** The index of the table's blocks, as BlockIndexBuilder would make it. */
  index(): Uint8Array {
    const { blockCount, separatorBytes } = this.functions
    const handleBytes = blockCount.value * 8
    const index = Buffer.allocUnsafeSlow(4 + handleBytes + separatorBytes.value)
    index.writeUInt32LE(blockCount.value, 0)
    index.set(this.range(this.#handlesAt, handleBytes), 4)
    index.set(this.range(this.#separatorsAt, separatorBytes.value), 4 + handleBytes)
    return index
  }

  /** Sets the bits of the table's keys. @param target exactly the bytes for `bits` bits */
  fillFilter(target: Uint8Array, bits: number, probes: number): void {
    const filter = this.range(this.#filterAt, target.length).fill(0)
    this.functions.fillFilter(this.#filterAt, bits, probes)
    target.set(filter)
  }

  /** Whether the chunk is in this kernel's memory. */
  #has({ buffer }: ArenaChunk): boolean {
    return buffer === (this.bytes.buffer as ArrayBufferLike)
  }

  /** False if memory is short, or if an entry is too large for the kernel's blocks. */
  #load({ memtables, endAfter, snapshots, table }: TableJob): boolean {
    const { functions } = this
    const entries = memtables.reduce((sum, memtable) => sum + memtable.entries.length / entryWords, 0)
    this.#end = this.#areasStart
    const entriesAt = this.#reserveArea(entries * entryWords * 4)
    const nextAt = this.#reserveArea(entries * 4)
    const pairsAt = this.#reserveArea(entries * 8)
    const places = memtables.map(({ chunks }) =>
      chunks.map((chunk) => (this.#has(chunk) ? chunk.start : this.#reserveArea(chunk.usedBytes)))
    )
    const chunksAt = this.#reserveArea(4 * Math.max(...memtables.map(({ chunks }) => chunks.length)))
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
    const snapshotsAt = this.#reserveArea(snapshots.length * 8)
    this.endKeys = endAfter.map(({ length }) => ({ at: this.#reserveArea(length), length }))
    if (!this.#grow()) return false
    for (const [i, { chunks }] of memtables.entries()) {
      for (const [number, chunk] of chunks.entries()) {
        if (this.#has(chunk)) continue
        const { buffer, start, usedBytes } = chunk
        copyShared(new Uint8Array(buffer, start, usedBytes), this.bytes, places[i]![number]!)
      }
    }
    new Float64Array(this.bytes.buffer, snapshotsAt).set(snapshots)
    for (const [i, key] of endAfter.entries()) this.bytes.set(key, this.endKeys[i]!.at)
    functions.setOrder(entries, nextAt, pairsAt)
    this.#snapshotsAt = snapshotsAt
    this.#snapshots = snapshots.length
    this.#isBusy = true
    return true
  }

  #placeResults(entries: number, keyBytes: number, largest: number, table: TableWriteOptions): void {
    const { functions } = this
    const { blockBytes, restartInterval, codec, keyFilterBits } = table
    functions.setHashes(this.#reserveArea(entries * 8))
    this.#handlesAt = this.#reserveArea(entries * 8)
    const restartsAt = this.#reserveArea(entries * 4)
    this.#separatorsAt = this.#reserveArea(keyBytes)
    this.#filterAt = this.#reserveArea(keyFilterBits > 0 ? Math.ceil(filterBits(entries, keyFilterBits) / 8) : 0)
    // A block begun below the limit, followed by a large one.
    this.#outputAt = this.#reserveArea(outputBytes + 2 * (blockBytes + largest + slack) + maxGrowth)
    this.#blockEndsAt = this.#reserveArea(entries * 4)
    functions.setBlocks(this.#outputAt, this.#blockEndsAt, restartsAt, this.#handlesAt, this.#separatorsAt)
    functions.setBlockOptions(Math.max(1, blockBytes), Math.max(1, restartInterval), codec === 'lz4')
  }

  /** Lays out an area of this size. */
  #reserveArea(bytes: number): number {
    const at = this.#end
    this.#end = at + aligned(bytes)
    return at
  }

  /** Grows the memory to cover everything laid out; false if that fails. */
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

/** Rounds up to a multiple of 8. */
function aligned(bytes: number): number {
  return (bytes + 7) & ~7
}

function supports({ runs, memtables, table, maxFileBytes, grandparents, deeper }: TableJob): boolean {
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

/**
 * Memory for entries that a kernel will write as tables without copying them first. Undefined if there are no kernels,
 * or no address space.
 */
export function kernelMemory(bytes: number): Buffer | undefined {
  const kernel = newKernel(bytes)
  if (kernel === undefined) return undefined
  owners.set(kernel.bytes.buffer, kernel)
  return kernel.bytes.subarray(heapStart, heapStart + bytes)
}

/** The kernel that has the job's chunks, or some of them, in its memory. */
function ownerOf({ memtables }: TableJob): FlushKernel | undefined {
  const chunk = memtables[0]?.chunks[0]
  return chunk && owners.get(chunk.buffer)
}

/** Undefined also if there is no address space for one. @param handedOut see FlushKernel */
function newKernel(handedOut = 0): FlushKernel | undefined {
  const code = compiled()
  if (code === undefined || webAssembly === undefined) return undefined
  const pages = Math.ceil((heapStart + handedOut + (handedOut > 0 ? workBytes : 0)) / pageBytes)
  try {
    const memory = new webAssembly.Memory({ initial: pages, maximum: handedOut > 0 ? pages : maxPages })
    const { exports } = new webAssembly.Instance(code, { env: { memory } })
    return new FlushKernel(exports as KernelFunctions, memory, handedOut)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Undefined without WebAssembly 128-bit SIMD, or if the host is not little-endian. */
function compiled(): object | undefined {
  if (module === undefined) {
    module = (isLittleEndian && compileModule(flushKernelBase64)) || null
  }
  return module ?? undefined
}
