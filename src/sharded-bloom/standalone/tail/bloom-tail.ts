/** P filters of M bits; a pair is in R of them, one in each of R parts of the P. See bloom/row-numbers.ts. */
import type { BitSet } from '../../../bloom/bit-set.ts'
import { rowNumbers } from '../../../bloom/row-numbers.ts'
import type { Parameters } from '../options.ts'
import { BitRows } from './bit-rows.ts'
import type { Tail } from './tail.ts'

export class BloomTail implements Tail {
  readonly #rows: BitRows
  /** Rows of the pair last looked up; see #rowsOf(). */
  readonly #numbers: Int32Array

  constructor({ shards, bits, rowsPerPair, counting }: Parameters) {
    this.#rows = new BitRows(shards, bits, counting)
    this.#numbers = new Int32Array(rowsPerPair)
  }

  get virtualShards(): number {
    return this.#rows.rows
  }

  get byteLength(): number {
    return this.#rows.byteLength
  }

  add(lo: number, hi: number, positions: Uint32Array): void {
    const numbers = this.#rowsOf(lo, hi)
    for (let i = 0; i < numbers.length; i++) {
      for (let k = 0; k < positions.length; k++) this.#rows.set(numbers[i]!, positions[k]!)
    }
  }

  remove(lo: number, hi: number, positions: Uint32Array): boolean {
    // Clear nothing unless every bit is set: the bits that are may belong to other pairs.
    if (!this.mayContain(lo, hi, positions)) return false
    for (const row of this.#numbers) for (const position of positions) this.#rows.unset(row, position)
    return true
  }

  mayContain(lo: number, hi: number, positions: Uint32Array): boolean {
    const numbers = this.#rowsOf(lo, hi)
    for (let i = 0; i < numbers.length; i++) {
      for (let k = 0; k < positions.length; k++) if (!this.#rows.isSet(numbers[i]!, positions[k]!)) return false
    }
    return true
  }

  read(lo: number, hi: number, out: BitSet): void {
    const numbers = this.#rowsOf(lo, hi)
    this.#rows.copyTo(numbers[0]!, out.words)
    for (let i = 1; i < numbers.length; i++) this.#rows.andInto(numbers[i]!, out.words)
  }

  density(): number {
    return this.#rows.countSet() / (this.#rows.rows * this.#rows.bits)
  }

  toBytes(): Uint8Array {
    return this.#rows.toBytes()
  }

  load(bytes: Uint8Array): void {
    this.#rows.load(bytes)
  }

  /** The pair's rows. They are distinct, as positions are, so one add sets each bit once. */
  #rowsOf(lo: number, hi: number): Int32Array {
    rowNumbers(lo, hi, this.#rows.rows, this.#numbers.length, this.#numbers)
    return this.#numbers
  }
}
