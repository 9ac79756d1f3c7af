/** The result of evaluating bounds over one segment, and how it is read from the bits. */
import { enumerateSlack, type RowMemory } from '../bloom/kernels/index.ts'
import { copyPositions } from './position-lists.ts'
import type { RowPart } from './segment/and-groups.ts'

export interface Evaluation {
  /** Positions in upper, live and below the limit, ascending; possibly only the first ones when all are certain. */
  readonly upper: Uint16Array
  readonly upperCount: number
  readonly lowerCount: number
  readonly isExact: boolean
  /** Which positions of `upper` are in lower, one bit each; undefined when none, or all of them are. */
  readonly certain: Uint8Array | undefined
  readonly rowsRead: number
  readonly bytesTouched: number
}

/** No documents, no rows read. */
export const noDocuments: Evaluation = {
  upper: new Uint16Array(0),
  upperCount: 0,
  lowerCount: 0,
  isExact: true,
  certain: undefined,
  rowsRead: 0,
  bytesTouched: 0
}

/**
 * @param part the part of the rows that was read and has bits
 * @param upper and lower: addresses of rows, 0 for no document; lower is a subset of upper, or the same row
 * @param listed maximum number of positions to list when all are certain
 */
export function evaluationOf(
  memory: RowMemory,
  part: RowPart,
  upper: number,
  lower: number,
  rowsRead: number,
  listed: number
): Evaluation {
  const bytesTouched = rowsRead * part.length
  if (upper === 0) {
    return { ...noDocuments, rowsRead, bytesTouched }
  }
  // One pass over the bits lists the positions and counts them, too.
  const all = listed === Number.POSITIVE_INFINITY ? positionsOf(upper, part, memory) : undefined
  const upperCount = all?.length ?? memory.kernels.popcount(upper + part.from, part.length)
  const lowerCount = countOf(upper, lower, upperCount, part, memory)
  const isExact = lowerCount === upperCount
  const positions = all ?? positionsOf(upper, part, memory, isExact ? Math.min(upperCount, listed) : upperCount)
  return {
    upper: positions,
    upperCount,
    lowerCount,
    isExact: isExact,
    certain: lowerCount === 0 || isExact ? undefined : membersOf(lower, positions, memory),
    rowsRead,
    bytesTouched
  }
}

function countOf(upper: number, lower: number, upperCount: number, part: RowPart, { kernels }: RowMemory): number {
  if (lower === upper) return upperCount
  return lower === 0 ? 0 : kernels.popcount(lower + part.from, part.length)
}

/** @param max how many to list at most */
function positionsOf(row: number, { from, length }: RowPart, memory: RowMemory, max = length * 8): Uint16Array {
  const list = memory.push(2 * (max + enumerateSlack))
  const count = memory.kernels.enumerate(row + from, length, list, max, from * 8)
  return copyPositions(memory.u16, list >>> 1, count)
}

/** Returns bit i set when positions[i] is set in the row. */
function membersOf(row: number, positions: Uint16Array, { u8 }: RowMemory): Uint8Array {
  const members = new Uint8Array((positions.length + 7) >>> 3)
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]!
    members[i >>> 3]! |= ((u8[row + (position >>> 3)]! >>> (position & 7)) & 1) << (i & 7)
  }
  return members
}
