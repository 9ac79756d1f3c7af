/**
 * Computes which groups of a segment may have documents in the upper bound of an expression. It reads no row: it uses
 * the upper level and the columns' least and greatest keys, as far as they are in memory.
 *
 * Invariant: a group that is excluded has no document in upper, apart from those that are always candidates.
 */
import type { BoundsLeaf, BoundsNode, LeafLocation, RangeLeaf } from '../bounds.ts'
import type { RangeColumn } from '../ranges/range-column.ts'
import type { Segment } from './segment.ts'
import { allGroups } from './upper-level.ts'

/**
 * @param locations of all leaves in the segment
 * @returns one bit per group; 0 when the segment need not be read
 */
export function groupsOf(segment: Segment, node: BoundsNode, locations: readonly LeafLocation[]): number {
  switch (node.kind) {
    case 'all':
    case 'not':
      // The upper bound of a negation follows from the lower bound of its child, of which a filter of pairs knows
      // nothing.
      return allGroups
    case 'none':
      return 0
    case 'pair':
      return segment.groups(locations[node.index]!.pair)
    case 'range': {
      const column = columnOf(segment, node)
      if (column === undefined) return segment.groups(locations[node.type.index]!.pair)
      return column.groups(node.range)
    }
    case 'and': {
      let groups = allGroups
      for (const child of node.children) {
        groups &= groupsOf(segment, child, locations)
        if (groups === 0) break
      }
      return groups
    }
    case 'or': {
      let groups = 0
      for (const child of node.children) {
        groups |= groupsOf(segment, child, locations)
      }
      return groups
    }
    case 'bounds':
      return groupsOf(segment, node.upper, locations)
  }
}

/** The column that answers the leaf, if the leaf is a range and the segment has one. */
export function columnOf(segment: Segment, leaf: BoundsLeaf | RangeLeaf): RangeColumn | undefined {
  return leaf.kind === 'range' ? segment.rangeColumn(leaf.range.path, leaf.range.type) : undefined
}
