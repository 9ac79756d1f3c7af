/**
 * Which groups of a segment may have documents in the upper bound of an expression: what the upper level, and least and
 * greatest keys of columns, tell before any row is read, as far as they are in memory.
 *
 * Invariant: a group that is left out has no document in upper, but for those that are always candidates.
 */
import type { BoundsLeaf, BoundsNode, RangeLeaf } from '../bounds.ts'
import type { RangeColumn } from '../ranges/range-column.ts'
import type { Segment } from './segment.ts'
import { allGroups } from './upper-level.ts'

/** @returns one bit per group; 0 when the segment need not be read. REQUIRES: prepare() */
export function groupsOf(segment: Segment, node: BoundsNode): number {
  switch (node.kind) {
    case 'all':
    case 'not':
      // What a negation leaves is told by the lower bound of what it negates: of that a filter of pairs knows nothing.
      return allGroups
    case 'none':
      return 0
    case 'pair':
      return segment.groups(node.pair)
    case 'range': {
      const column = columnOf(segment, node)
      if (column === undefined) return segment.groups(node.type.pair)
      return column.excludes(node.range) ? 0 : allGroups
    }
    case 'and': {
      let groups = allGroups
      for (const child of node.children) {
        groups &= groupsOf(segment, child)
        if (groups === 0) break
      }
      return groups
    }
    case 'or': {
      let groups = 0
      for (const child of node.children) {
        groups |= groupsOf(segment, child)
        if (groups === allGroups) break
      }
      return groups
    }
    case 'bounds':
      return groupsOf(segment, node.upper)
  }
}

/**
 * Of `groups`, which are of the expression, those that are left by the rows that are in memory. Rows are read only where few
 * groups are left, so that a segment in which the upper level errs is ruled out before anything is made for it.
 */
export function narrowGroups(segment: Segment, node: BoundsNode, groups: number): number {
  switch (node.kind) {
    case 'all':
    case 'not':
    case 'range':
    case 'none':
      return groups
    case 'pair':
      return segment.narrowGroups(node.pair, groups)
    case 'and': {
      let left = groups
      for (let i = 0; i < node.children.length && left !== 0; i++) {
        left = narrowGroups(segment, node.children[i]!, left)
      }
      return left
    }
    case 'or': {
      let left = 0
      for (let i = 0; i < node.children.length && left !== groups; i++) {
        const child = node.children[i]!
        left |= narrowGroups(segment, child, groupsOf(segment, child) & groups)
      }
      return left
    }
    case 'bounds':
      return narrowGroups(segment, node.upper, groups)
  }
}

/** The column that answers the leaf, if it is a range and the segment has one. */
export function columnOf(segment: Segment, leaf: BoundsLeaf | RangeLeaf): RangeColumn | undefined {
  return leaf.kind === 'range' ? segment.rangeColumn(leaf.range.path, leaf.range.type) : undefined
}
