/** Hashed rows of a few groups of documents only: what is asked of a segment in which a pair is rare. */
import { popcount32 } from '../../bloom/bit-set.ts'
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { maxSparseGroups } from './upper-level.ts'

/** Kernels work on 16 bytes at least. */
const kernelDocuments = 128

export interface RowPointers {
  /** Where the addresses of the rows stand, `count` × u32. */
  readonly pointers: number
  readonly count: number
  /** Length of a row. */
  readonly bytes: number
}

/** Whether it pays to read the groups' parts of rows, and kernels can. */
export function areSparse(groups: number, groupDocuments: number): boolean {
  return popcount32(groups) <= maxSparseGroups && groupDocuments % kernelDocuments === 0
}

/**
 * Of every row only what belongs to the groups is read, and the AND of it written to `out`. The pointers are moved along.
 * @returns the groups of which any bit is set
 */
export function andGroups(
  { kernels, u32 }: RowMemory,
  { pointers, count, bytes }: RowPointers,
  groups: number,
  groupDocuments: number,
  out: number
): number {
  const groupBytes = groupDocuments / 8
  let left = 0
  let at = 0
  for (let rest = groups; rest !== 0; rest &= rest - 1) {
    const offset = (31 - Math.clz32(rest & -rest)) * groupBytes
    // The last group may be shorter.
    const length = Math.min(groupBytes, bytes - offset)
    if (length <= 0) break
    for (let i = 0; i < count; i++) u32[(pointers >>> 2) + i]! += offset - at
    at = offset
    if (kernels.andRows(pointers, count, out + offset, length) === 1) left |= rest & -rest
  }
  return left
}
