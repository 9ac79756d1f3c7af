/**
 * Supplies the data blocks of a table to one cursor.
 *
 * Invariants:
 * 1. A block's bytes belong to the cursor: they are never those of a cached block and never reused, so that the
 *    cursor's user may hand them out. With a ReadSpace, they are valid until the cursor requests the next block.
 * 2. Readahead begins with the second adjacent block in a row and grows from there: reading one entry reads one block.
 */
import type { CachedBlocks } from '../cache/block-cache.ts'
import type { Block } from './block.ts'
import { DecompressionSpace } from './codec.ts'
import { Scratch } from './scratch.ts'
import type { TableFile } from './table-file.ts'

/** Initial and maximum readahead. More is not faster, and one retained value keeps the whole window in memory. */
const firstWindowBytes = 16_384
const maxWindowBytes = 65_536
/** Size of an allocation for decompressed blocks. */
const spaceBytes = 65_536
/** Released spaces, kept by the thread: some 160 KiB each at most. */
const idleSpaces: ReadSpace[] = []
const maxIdleSpaces = 24

/**
 * Which blocks that were not in the cache are added to it. A seek is as random as the read of a key, and will be made
 * again by whoever repeats a short scan; the blocks read ahead after it may be the whole table, and push out all others.
 */
export type CacheFill = 'none' | 'sought' | 'all'

export interface ReadOptions {
  readonly fillCache: CacheFill
  /** For scans: read several blocks at once. */
  readonly readahead: boolean
  /** For readers that keep no values: an entry's bytes are gone once the cursor has moved on. One cursor at a time. */
  readonly space?: ReadSpace | undefined
}

/**
 * Buffers for reading and decompression, reused by one cursor after another. Allocating fresh memory for every block
 * makes V8 mark the whole heap some ten times a second, on all cores.
 *
 * @example
 * const space = ReadSpace.acquire()
 * const window = space.window(100)
 * space.release()
 */
export class ReadSpace {
  /** Used alternately: a cursor may still be in a block of one window while it inspects a block of the other. */
  readonly #windows = [new Scratch(), new Scratch()] as const
  #next: 0 | 1 = 0
  readonly blocks = new DecompressionSpace(firstWindowBytes)

  private constructor() {}

  static acquire(): ReadSpace {
    return idleSpaces.pop() ?? new ReadSpace()
  }

  /** REQUIRES: called once, and nobody uses its memory any more. */
  release(): void {
    if (idleSpaces.length < maxIdleSpaces) idleSpaces.push(this)
  }

  /** A window of this many bytes, which may reuse the memory of the one returned two calls ago. */
  window(bytes: number): Buffer {
    const scratch = this.#windows[this.#next]
    this.#next = this.#next === 0 ? 1 : 0
    return scratch.take(bytes)
  }
}

export class BlockSource {
  readonly #file: TableFile
  readonly #cached: CachedBlocks
  readonly #options: ReadOptions
  readonly #space: DecompressionSpace
  /** The block requested last. */
  #last = -2
  /** Blocks [first, end) are in the window, which begins at file offset `offset`. */
  #window: Buffer = Buffer.alloc(0)
  #first = 0
  #end = 0
  #offset = 0
  #windowBytes = firstWindowBytes
  /** No block from this one on is read ahead; undefined until that matters. */
  #aheadEnd: number | undefined
  readonly #keyEnd: Uint8Array | undefined

  /** @param keyEnd blocks without a key before it are not read ahead */
  constructor(file: TableFile, cached: CachedBlocks, options: ReadOptions, keyEnd?: Uint8Array) {
    this.#file = file
    this.#keyEnd = keyEnd
    this.#cached = cached
    this.#options = options
    this.#space = options.space?.blocks ?? new DecompressionSpace(options.readahead ? spaceBytes : 0)
  }

  /** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
  block(index: number): Block {
    const step = index - this.#last
    this.#last = index
    if (this.#options.space !== undefined) this.#space.restart()
    const isNeighbour = step === 1 || step === -1
    if (!isNeighbour) this.#windowBytes = firstWindowBytes
    const found = this.#cached.get(index)
    if (found !== undefined) return this.#copyOf(found)
    if (index >= this.#first && index < this.#end) return this.#fromWindow(index)
    if (!this.#options.readahead || !isNeighbour) return this.#single(index)
    this.#readWindow(index, step)
    return this.#fromWindow(index)
  }

  /**
   * Returns a block without copying, for inspection only: valid until the next read by anyone.
   * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  peek(index: number): Block {
    if (!this.#isAvailable(index)) this.#readWindow(index, 1)
    this.#last = index
    const cached = this.#cached.get(index)
    if (cached !== undefined) return cached
    const start = this.#file.index.offset(index) - this.#offset
    const block = this.#file.decodeBlock(this.#window, start, index, undefined)
    if (this.#options.fillCache === 'all') this.#cached.add(index, block)
    return block
  }

  /** The block just returned by peek(), in bytes that belong to the cursor. */
  keep(block: Block): Block {
    if (block.bytes === this.#window) return block
    if (this.#options.space !== undefined) this.#space.restart()
    return this.#copyOf(block)
  }

  close(): void {
    this.#window = Buffer.alloc(0)
    this.#first = 0
    this.#end = 0
    this.#last = -2
  }

  #copyOf(cached: Block): Block {
    const space = this.#space
    space.reserve(cached.payloadBytes)
    const block = cached.copyInto(space.bytes, space.start)
    space.start += block.payloadBytes
    return block
  }

  #isAvailable(index: number): boolean {
    return (index >= this.#first && index < this.#end) || this.#cached.has(index)
  }

  #single(index: number): Block {
    const block = this.#file.readBlock(index)
    if (this.#options.fillCache !== 'none') this.#cached.add(index, block)
    return block
  }

  #fromWindow(index: number): Block {
    const start = this.#file.index.offset(index) - this.#offset
    const block = this.#file.decodeBlock(this.#window, start, index, this.#space)
    if (this.#options.fillCache === 'all') this.#cached.add(index, block)
    return block
  }

  /** Reads blocks starting at `index` in the given direction, at least that one. */
  #readWindow(index: number, step: 1 | -1): void {
    const { index: blocks } = this.#file
    let first = index
    let end = index + 1
    const limit = this.#windowBytes
    if (step === 1) {
      const start = blocks.offset(first)
      this.#aheadEnd ??=
        this.#keyEnd === undefined ? blocks.count : Math.min(blocks.count, blocks.find(this.#keyEnd) + 1)
      while (end < this.#aheadEnd && blocks.offset(end + 1) - start <= limit) end++
    } else {
      const stop = blocks.offset(end)
      while (first > 0 && stop - blocks.offset(first - 1) <= limit) first--
    }
    const offset = blocks.offset(first)
    const bytes = blocks.offset(end) - offset
    const window = this.#options.space?.window(bytes) ?? Buffer.allocUnsafeSlow(bytes)
    this.#first = 0
    this.#end = 0
    this.#file.read(window, offset)
    this.#window = window
    this.#first = first
    this.#end = end
    this.#offset = offset
    this.#windowBytes = Math.min(maxWindowBytes, limit * 4)
  }
}
