/** Reads only the parts of rows that belong to a few groups of documents, for segments in which a pair is rare. */
import { popcount32 } from '../../bloom/bit-set.ts'
import type { RowMemory } from '../../bloom/kernels/index.ts'
import type { Segment } from './segment.ts'
import { allGroups, maxSparseGroups } from './upper-level.ts'

/** Kernels work on at least 16 bytes. */
const kernelDocuments = 128

/**
 * The part of every row that an evaluation looks at: the bytes from the first to the last group that matters. Within it
 * the bounds equal those of whole rows, so negation is sound; beyond it they are unspecified.
 */
export interface RowPart {
  /** All groups in the part, one bit each. */
  readonly groups: number
  readonly from: number
  /** In bytes, a multiple of 16. */
  readonly length: number
}

/** The whole of a row. */
export function wholePart(rowBytes: number): RowPart {
  return { groups: allGroups, from: 0, length: rowBytes }
}

/**
 * The part that covers these groups, at least one; the whole row if there are documents whose pairs are not all known.
 */
export function partOf(segment: Segment, groups: number): RowPart {
  const { rowBytes, groupDocuments, alwaysCandidates } = segment
  if (groups === allGroups || groupDocuments % kernelDocuments !== 0 || alwaysCandidates.length > 0) {
    return wholePart(rowBytes)
  }
  const groupBytes = groupDocuments / 8
  const first = 31 - Math.clz32(groups & -groups)
  const beyond = Math.clz32(groups)
  const end = Math.min(rowBytes, (32 - beyond) * groupBytes)
  const from = Math.min(end, first * groupBytes)
  return { groups: (allGroups << first) & (allGroups >>> beyond), from, length: end - from }
}

export interface RowPointers {
  /** Address of the row addresses, `count` × u32. */
  readonly pointers: number
  readonly count: number
  /** Length of a row. */
  readonly bytes: number
}

/** Whether it pays to read only the groups' parts of rows, and kernels can do so. */
export function areSparse(groups: number, groupDocuments: number): boolean {
  return popcount32(groups) <= maxSparseGroups && groupDocuments % kernelDocuments === 0
}

/**
 * Writes the AND of the groups' parts of the rows to `out`, reading nothing else. Advances the pointers.
 * @returns whether any bit is set
 */
export function andGroups(
  { kernels, u32 }: RowMemory,
  { pointers, count, bytes }: RowPointers,
  groups: number,
  groupDocuments: number,
  out: number
): boolean {
  const groupBytes = groupDocuments / 8
  let isAnySet = 0
  let at = 0
  for (let rest = groups; rest !== 0; rest &= rest - 1) {
    const offset = (31 - Math.clz32(rest & -rest)) * groupBytes
    // The last group may be shorter.
    const length = Math.min(groupBytes, bytes - offset)
    if (length <= 0) break
    for (let i = 0; i < count; i++) u32[(pointers >>> 2) + i]! += offset - at
    at = offset
    isAnySet |= kernels.andRows(pointers, count, out + offset, length)
  }
  return isAnySet !== 0
}
