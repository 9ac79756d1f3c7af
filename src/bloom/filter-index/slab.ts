/** The transposed rows of up to 512 filters. */
import { transpose32 } from './transpose.ts'

export const slabSlots = 512
export const slabWords = slabSlots / 32

/** A filter and its column. */
export type Column = readonly [column: number, filter: Uint8Array]

const block = new Uint32Array(32)

export class Slab {
  /** Row p is rows[p · width, (p + 1) · width). */
  rows: Uint32Array<ArrayBuffer>
  /** Words of a row: 1, 2, 4, 8 or 16. */
  width = 1
  readonly #bits: number
  #columns = 0

  constructor(bits: number) {
    this.#bits = bits
    this.rows = new Uint32Array(bits)
  }

  /** Width of a slab that contains this column. */
  static widthFor(column: number): number {
    return 2 ** Math.ceil(Math.log2((column >>> 5) + 1))
  }

  get memoryBytes(): number {
    return this.rows.byteLength
  }

  /** Writes columns, replacing their previous contents. */
  write(columns: readonly Column[]): void {
    for (let word = 0; word < slabWords; word++) {
      const within = columns.filter(([column]) => column >>> 5 === word)
      if (within.length > 0) this.#writeWord(word, within)
    }
    this.#columns += columns.length
  }

  /** Drops a column; returns how many are left. Its bits stay until another one is written. */
  erase(): number {
    return --this.#columns
  }

  /** Writes columns of one word, in steps of 32 bits of each, which become 32 rows. */
  #writeWord(word: number, columns: readonly Column[]): void {
    while (word >= this.width) this.#widen()
    const { rows, width } = this
    let kept = -1
    for (const [column] of columns) kept &= ~(1 << (column & 31))
    for (let first = 0; first < this.#bits; first += 32) {
      block.fill(0)
      for (const [column, filter] of columns) {
        const byte = first >>> 3
        // Reads past the end yield undefined, which counts as 0.
        block[column & 31] =
          filter[byte]! | (filter[byte + 1]! << 8) | (filter[byte + 2]! << 16) | (filter[byte + 3]! << 24)
      }
      transpose32(block)
      const end = Math.min(32, this.#bits - first)
      for (let i = 0, at = first * width + word; i < end; i++, at += width) rows[at] = (rows[at]! & kept) | block[i]!
    }
  }

  #widen(): void {
    const { rows, width } = this
    const wider = new Uint32Array(rows.length * 2)
    for (let from = 0, to = 0; from < rows.length; to += 2 * width) {
      for (let i = 0; i < width; i++) wider[to + i] = rows[from++]!
    }
    this.rows = wider
    this.width = width * 2
  }
}
