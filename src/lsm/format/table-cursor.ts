/** A cursor over a whole table: a block cursor that continues into the adjacent blocks. */
import type { Block } from './block.ts'
import { BlockCursor } from './block-cursor.ts'
import type { BlockIndex } from './block-index.ts'
import type { BlockSource } from './block-source.ts'
import type { BlockTest } from './cursor.ts'

/** Approximate payload bytes that one call skips. */
const maxSkippedBytes = 128 * 1024

export class TableCursor extends BlockCursor {
  readonly #index: BlockIndex
  readonly #source: BlockSource
  /** Index of the loaded block; −1: none. */
  #current = -1
  /** Reads the first key of a block that may be skipped. */
  #ahead: BlockCursor | undefined
  readonly #end: Uint8Array | undefined

  /** @param end moving forwards, blocks without a key before it are not read: the cursor becomes invalid instead */
  constructor(index: BlockIndex, source: BlockSource, end?: Uint8Array) {
    super()
    this.#index = index
    this.#source = source
    this.#end = end
  }

  override seekToFirst(): void {
    this.#enter(0)
    super.seekToFirst()
  }

  override seekToLast(): void {
    this.#enter(this.#index.count - 1)
    super.seekToLast()
  }

  override seek(target: Uint8Array): void {
    this.isValid = false
    const block = this.#index.find(target)
    if (block === this.#index.count || this.#isPastEnd(block)) return
    this.#enter(block)
    super.seek(target)
    // The target is between the block's last key and its separator: the next block's first key follows it.
    if (!this.isValid) this.#goForward(block + 1)
  }

  override seekBefore(target: Uint8Array): void {
    this.isValid = false
    const block = this.#index.find(target)
    if (block === this.#index.count) {
      this.seekToLast()
      return
    }
    this.#enter(block)
    super.seekBefore(target)
    if (!this.isValid) this.#goBack(block - 1)
  }

  override next(): void {
    super.next()
    if (!this.isValid) this.#goForward(this.#current + 1)
  }

  override previous(): void {
    super.previous()
    if (!this.isValid) this.#goBack(this.#current - 1)
  }

  /**
   * See Cursor. A block may be skipped if its separator is before the limit and the next block has no version of its
   * last key.
   */
  skipBlocks(mayHold: BlockTest, limit: Uint8Array | undefined): void {
    const blocks = this.#index
    let left = maxSkippedBytes
    let passed = this.#current
    while (limit === undefined || blocks.compareSeparator(passed, limit) < 0) {
      const next = passed + 1
      if (next === blocks.count) {
        this.isValid = false
        return
      }
      const block = this.#source.peek(next)
      if (this.#beginsWithSeparator(block, passed)) break
      left -= block.payloadBytes
      if (left <= 0 || mayHold(block)) {
        this.#current = -1
        this.load(this.#source.keep(block))
        this.#current = next
        super.seekToFirst()
        return
      }
      passed = next
    }
    if (passed === this.#current) this.next()
    else this.#goForward(passed)
  }

  override close(): void {
    super.close()
    this.#source.close()
    this.#ahead = undefined
    this.#current = -1
  }

  #beginsWithSeparator(block: Block, before: number): boolean {
    block.beginsWithSeparator ??= this.#isSeparator(before, block)
    return block.beginsWithSeparator
  }

  #isSeparator(before: number, block: Block): boolean {
    this.#ahead ??= new BlockCursor()
    this.#ahead.load(block)
    this.#ahead.seekToFirst()
    const { keyBytes, keyStart, keyEnd } = this.#ahead
    return this.#index.isSeparator(before, keyBytes, keyStart, keyEnd)
  }

  #goForward(block: number): void {
    if (block >= this.#index.count || this.#isPastEnd(block)) return
    this.#enter(block)
    super.seekToFirst()
  }

  /** Whether no key of a block is before the end: all are at or after the separator of the block before. */
  #isPastEnd(block: number): boolean {
    return this.#end !== undefined && block > 0 && this.#index.compareSeparator(block - 1, this.#end) >= 0
  }

  #goBack(block: number): void {
    if (block < 0) return
    this.#enter(block)
    super.seekToLast()
  }

  #enter(block: number): void {
    if (block === this.#current) return
    // If reading fails, no block is loaded.
    this.#current = -1
    this.isValid = false
    this.load(this.#source.block(block))
    this.#current = block
  }
}
