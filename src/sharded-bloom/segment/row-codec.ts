/**
 * Stores a private row in its smallest shape.
 *
 * | shape        | bytes                                                       |
 * | ------------ | ----------------------------------------------------------- |
 * | `none`,`all` | none: the segment's record says it                          |
 * | `dense`      | one bit per position                                        |
 * | `list`       | gaps between set positions, LEB128                          |
 * | `complement` | gaps between clear positions, LEB128                        |
 *
 * A stored row is one shape byte followed by these bytes. See docs/file-formats.md#private-rows.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { ScratchArena } from '../records/scratch-arena.ts'

export const RowShape = { none: 0, all: 1, dense: 2, list: 3, complement: 4 } as const

/** Replace a stored row's number for rows that need not be stored. */
export const NO_DOCUMENT = -1
export const ALL_DOCUMENTS = -2

/**
 * Returns the row's stored form, allocated from `arena`.
 * @param words the row's bits, at least `documents` of them
 * @param documents positions in use; bits beyond are ignored
 * @param rowBytes length of a dense row
 */
export function encodeRow(
  words: Uint32Array,
  documents: number,
  rowBytes: number,
  memory: RowMemory,
  arena: ScratchArena
): Uint8Array {
  const { kernels, u8, u32 } = memory
  const row = memory.push(Math.max(rowBytes, words.byteLength))
  const out = memory.push(1 + rowBytes)
  kernels.fill(row, 0, rowBytes)
  u32.set(words, row >>> 2)
  const stored = arena.copyOf(u8.subarray(out, out + kernels.encodeRow(row, documents, rowBytes, out)))
  memory.pop(row)
  return stored
}

/** Writes the row's bits to `rowBytes` bytes at `address`; returns false when the stored bytes are damaged. */
export function decodeRow(
  stored: Uint8Array,
  memory: RowMemory,
  address: number,
  documents: number,
  rowBytes: number
): boolean {
  const { kernels, u8, scratch } = memory
  const shape = stored[0]
  const payload = stored.subarray(1)
  switch (shape) {
    case RowShape.none:
    case RowShape.all:
      kernels.fill(address, shape === RowShape.all ? 0xff : 0, rowBytes)
      break
    case RowShape.dense:
      if (payload.length !== rowBytes) return false
      u8.set(payload, address)
      break
    case RowShape.list:
    case RowShape.complement: {
      if (payload.length > rowBytes) return false
      u8.set(payload, scratch)
      kernels.fill(address, 0, 8192)
      if (kernels.decodeGaps(scratch, payload.length, address) < 0) return false
      if (shape === RowShape.complement) kernels.not(address, address, rowBytes)
      break
    }
    default:
      return false
  }
  kernels.clearFrom(address, documents, rowBytes)
  return true
}
