/**
 * The Bloom filters of a table's blocks, transposed: row p holds bit p of every block's filter, so that a few rows
 * identify the blocks worth reading. All have the same number of bits, enough for a block with the average number of
 * pairs.
 *
 * Encoding: blocks u32 | bits u32 | hashes u8 | three zeros | rows of ⌈blocks / 8⌉ bytes; bit b of a row is bit (b &
 * 7) of byte b >> 3.
 */
import { rowNumbers } from '../../bloom/hash.ts'
import { writeU32 } from '../format/bytes.ts'
import type { Decoder } from './decoder.ts'

const headerBytes = 12
const maxHashes = 16
const minBits = 64
/** Beyond this, the filters of a table's blocks get fewer bits per pair. */
const maxSectionBytes = 16 * 1024 * 1024

/** Collects the pairs of the blocks of one table. */
export class BlockFilterCollector {
  readonly #bitsPerPair: number
  /** Lower and upper hash halves, alternating. */
  #hashes = new Int32Array(4096)
  #length = 0
  /** End offset in #hashes of each block. */
  readonly #ends: number[] = []

  constructor(bitsPerPair: number) {
    this.#bitsPerPair = bitsPerPair
  }

  add(lo: number, hi: number): void {
    if (this.#length === this.#hashes.length) {
      const larger = new Int32Array(this.#length * 2)
      larger.set(this.#hashes)
      this.#hashes = larger
    }
    this.#hashes[this.#length++] = lo
    this.#hashes[this.#length++] = hi
  }

  endBlock(): void {
    this.#ends.push(this.#length)
  }

  finish(): Uint8Array {
    const blocks = this.#ends.length
    const rowBytes = Math.ceil(blocks / 8)
    const wanted = Math.ceil((this.#bitsPerPair * this.#length) / 2 / Math.max(1, blocks))
    const most = Math.floor(maxSectionBytes / Math.max(1, rowBytes))
    const bits = Math.min(Math.max(minBits, wanted), Math.max(minBits, most))
    const hashes = Math.min(maxHashes, Math.max(1, Math.round(this.#bitsPerPair * Math.LN2)))

    const section = new Uint8Array(headerBytes + bits * rowBytes)
    writeU32(section, 0, blocks)
    writeU32(section, 4, bits)
    section[8] = hashes
    const positions = new Int32Array(hashes)
    let at = 0
    for (let block = 0; block < blocks; block++) {
      const column = headerBytes + (block >>> 3)
      const bit = 1 << (block & 7)
      for (const end = this.#ends[block]!; at < end; at += 2) {
        rowNumbers(this.#hashes[at]!, this.#hashes[at + 1]!, bits, hashes, positions)
        for (let i = 0; i < hashes; i++) section[column + positions[i]! * rowBytes]! |= bit
      }
    }
    return section
  }
}

/**
 * The blocks, ascending, that may hold all of the pairs.
 * @param hashes lower and upper halves of the pairs' hashes, alternating
 * @throws LEVEL_CORRUPTION
 */
export function matchingBlocks(decoder: Decoder, blockCount: number, hashes: Int32Array): number[] {
  const blocks = decoder.u32('number of blocks')
  const bits = decoder.u32('bits of a block filter')
  const perPair = decoder.byte('hashes')
  decoder.take(3, 'padding')
  const rowBytes = Math.ceil(blocks / 8)
  if (blocks !== blockCount || bits === 0 || perPair === 0 || decoder.rest !== bits * rowBytes) {
    throw decoder.damaged(
      `block filters of ${blocks} × ${bits} bits in ${decoder.rest} bytes, expected ${blockCount} blocks`
    )
  }
  const rows = decoder.take(decoder.rest, 'rows')
  const starts = rowStarts(hashes, bits, perPair, rowBytes)
  const found: number[] = []
  for (let column = 0; column < rowBytes; column++) {
    let byte = 0xff
    for (let i = 0; byte !== 0 && i < starts.length; i++) byte &= rows[starts[i]! + column]!
    for (; byte !== 0; byte &= byte - 1) {
      const block = column * 8 + 31 - Math.clz32(byte & -byte)
      if (block < blocks) found.push(block)
    }
  }
  return found
}

function rowStarts(hashes: Int32Array, bits: number, perPair: number, rowBytes: number): Float64Array {
  const starts = new Float64Array((hashes.length / 2) * perPair)
  const positions = new Int32Array(perPair)
  for (let pair = 0; pair < hashes.length / 2; pair++) {
    rowNumbers(hashes[2 * pair]!, hashes[2 * pair + 1]!, bits, perPair, positions)
    for (let i = 0; i < perPair; i++) starts[pair * perPair + i] = positions[i]! * rowBytes
  }
  return starts
}
