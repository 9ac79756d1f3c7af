/** The stored form of a row, encoded position by position: the reference for the kernel. */
import { popcount32 } from '../../src/bloom/bit-set.ts'
import { RowShape } from '../../src/sharded-bloom/segment/row-codec.ts'

/**
 * @param words bits of the row, at least `documents` of them
 * @param documents positions in use; bits beyond are ignored
 * @param rowBytes length of a dense row
 */
export function storedRow(words: Uint32Array, documents: number, rowBytes: number): Uint8Array {
  const count = countBits(words, documents)
  if (count === 0) return Uint8Array.of(RowShape.none)
  if (count === documents) return Uint8Array.of(RowShape.all)
  const invert = count > documents - count
  const fewer = invert ? documents - count : count
  // A gap takes at least one byte, so that a list of more positions than a dense row has bytes cannot be smaller.
  if (fewer < rowBytes) {
    const gaps = encodeGaps(words, documents, invert)
    if (gaps.length < rowBytes) return Uint8Array.of(invert ? RowShape.complement : RowShape.list, ...gaps)
  }
  const dense = new Uint8Array(1 + rowBytes)
  dense[0] = RowShape.dense
  const bytes = new Uint8Array(words.buffer, words.byteOffset, Math.min(words.byteLength, rowBytes))
  dense.set(bytes, 1)
  clearBits(dense.subarray(1), documents)
  return dense
}

/** The bits of a row, or those that are not set, as a gap list. */
export function encodeGaps(words: Uint32Array, documents = words.length * 32, invert = false): Uint8Array {
  const out = new Uint8Array(3 * documents)
  let length = 0
  let next = 0
  for (let position = 0; position < documents; position++) {
    const isSet = (words[position >>> 5]! & (1 << (position & 31))) !== 0
    if (isSet === invert) continue
    length = writeGap(out, length, position - next)
    next = position + 1
  }
  return out.slice(0, length)
}

/** Writes a LEB128 number; returns the offset after it. */
function writeGap(out: Uint8Array, offset: number, gap: number): number {
  let at = offset
  let rest = gap
  while (rest >= 0x80) {
    out[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  out[at++] = rest
  return at
}

function countBits(words: Uint32Array, documents: number): number {
  let count = 0
  const whole = documents >>> 5
  for (let w = 0; w < whole; w++) count += popcount32(words[w]!)
  const rest = documents & 31
  if (rest > 0) count += popcount32(words[whole]! & ((1 << rest) - 1))
  return count
}

function clearBits(bytes: Uint8Array, from: number): void {
  const whole = from >>> 3
  if ((from & 7) !== 0) {
    bytes[whole]! &= (1 << (from & 7)) - 1
    bytes.fill(0, whole + 1)
  } else bytes.fill(0, whole)
}
