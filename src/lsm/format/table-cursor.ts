/** A cursor over a whole table: one over a block that goes on into the next one. */
import { BlockCursor } from './block-cursor.ts'
import type { BlockIndex } from './block-index.ts'
import type { BlockSource } from './block-source.ts'

export class TableCursor extends BlockCursor {
  readonly #index: BlockIndex
  readonly #source: BlockSource
  /** The block that is loaded, −1 before the first one. */
  #current = -1

  constructor(index: BlockIndex, source: BlockSource) {
    super()
    this.#index = index
    this.#source = source
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
    if (block === this.#index.count) return
    this.#enter(block)
    super.seek(target)
    // Between the block's last key and its separator: the next block's first key is the one.
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

  override close(): void {
    super.close()
    this.#source.close()
    this.#current = -1
  }

  #goForward(block: number): void {
    if (block >= this.#index.count) return
    this.#enter(block)
    super.seekToFirst()
  }

  #goBack(block: number): void {
    if (block < 0) return
    this.#enter(block)
    super.seekToLast()
  }

  #enter(block: number): void {
    if (block === this.#current) return
    // Should reading fail, no block is loaded.
    this.#current = -1
    this.isValid = false
    this.load(this.#source.block(block))
    this.#current = block
  }
}
