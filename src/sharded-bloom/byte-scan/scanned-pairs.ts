/**
 * The values of a scanned document for a sample: what flatten() would list, in the same order. Valid until the next scan.
 */
import { Type } from '../../model/types.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { PairList } from '../tune/sampled-pairs.ts'
import type { ScannerModule } from './scanner-module.ts'

const decoder = new TextDecoder()

export class ScannedPairs implements PairList {
  readonly #module: ScannerModule
  readonly #pathOf: (node: number) => string
  readonly #f64: Float64Array
  readonly #ascii: (start: number, end: number) => string
  /** Where the entries begin, and how long they are, in words of four bytes. */
  readonly #start: number
  readonly #words: number
  count = 0

  constructor(module: ScannerModule, pathOf: (node: number) => string) {
    this.#module = module
    this.#pathOf = pathOf
    this.#f64 = new Float64Array(module.u8.buffer)
    this.#ascii = asciiIn(module.u8)
    this.#start = module.constants.TRACE >>> 2
    this.#words = module.constants.TRACE_BYTES >>> 2
  }

  lo(i: number): number {
    return this.#module.u32[this.#entry(i)]! | 0
  }

  textLength(i: number): number {
    const { constants } = this.#module
    return this.#isText(i) ? this.#field(i, constants.TRACE_TEXT_UNITS) : 0
  }

  pair(i: number): HashedPair {
    const { constants, u32 } = this.#module
    const entry = this.#entry(i)
    return {
      path: this.#pathOf(this.#field(i, constants.TRACE_NODE)),
      tag: this.#field(i, constants.TRACE_TAG),
      key: this.#isText(i) ? this.#text(i) : this.#f64[(entry + (constants.TRACE_VALUE >>> 2)) >>> 1]!,
      lo: u32[entry]! | 0,
      hi: u32[entry + 1]! | 0
    }
  }

  #isText(i: number): boolean {
    const tag = this.#field(i, this.#module.constants.TRACE_TAG)
    return tag === Type.string || tag === Type.objectId
  }

  #text(i: number): string {
    const { constants, u8 } = this.#module
    const start = this.#field(i, constants.TRACE_TEXT)
    const end = start + this.#field(i, constants.TRACE_TEXT_BYTES)
    if (end - start === this.#field(i, constants.TRACE_TEXT_UNITS)) return this.#ascii(start, end)
    // With its quotes it is JSON.
    return JSON.parse(decoder.decode(u8.subarray(start - 1, end + 1))) as string
  }

  /** Of the i-th entry, the u32 at a byte offset. */
  #field(i: number, offset: number): number {
    return this.#module.u32[this.#entry(i) + (offset >>> 2)]!
  }

  #entry(i: number): number {
    return this.#start + i * this.#words
  }
}

function asciiIn(u8: Uint8Array<ArrayBuffer>): (start: number, end: number) => string {
  if (typeof Buffer !== 'function') return (start, end) => decoder.decode(u8.subarray(start, end))
  const buffer = Buffer.from(u8.buffer)
  return (start, end) => buffer.toString('latin1', start, end)
}
