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

/**
 * @param found receives the groups of the pairs that were looked at, by their `index`
 * @returns one bit per group; 0 when the segment need not be read. REQUIRES: prepare()
 */
export function groupsOf(segment: Segment, node: BoundsNode, found: Int32Array): number {
  switch (node.kind) {
    case 'all':
    case 'not':
      // What a negation leaves is told by the lower bound of what it negates: of that a filter of pairs knows nothing.
      return allGroups
    case 'none':
      return 0
    case 'pair':
      return groupsOfLeaf(segment, node, found)
    case 'range': {
      const column = columnOf(segment, node)
      if (column === undefined) return groupsOfLeaf(segment, node.type, found)
      return column.excludes(node.range) ? 0 : allGroups
    }
    case 'and': {
      let groups = allGroups
      for (const child of node.children) {
        groups &= groupsOf(segment, child, found)
        if (groups === 0) break
      }
      return groups
    }
    case 'or': {
      let groups = 0
      for (const child of node.children) {
        groups |= groupsOf(segment, child, found)
      }
      return groups
    }
    case 'bounds':
      return groupsOf(segment, node.upper, found)
  }
}

function groupsOfLeaf(segment: Segment, leaf: BoundsLeaf, found: Int32Array): number {
  const groups = segment.groups(leaf.pair)
  found[leaf.index] = groups
  return groups
}

/**
 * Of `groups`, which are of the expression, those that are left by the rows that are in memory. Rows are read only where few
 * groups are left, so that a segment in which the upper level errs is ruled out before anything is made for it.
 *
 * REQUIRES: `found` as groupsOf() left it. What it did not look at stands beside something without a group.
 */
export function narrowGroups(segment: Segment, node: BoundsNode, groups: number, found: Int32Array): number {
  switch (node.kind) {
    case 'all':
    case 'not':
    case 'range':
    case 'none':
      return groups
    case 'pair':
      return segment.narrowGroups(node.pair, groups & found[node.index]!)
    case 'and': {
      let left = groups
      for (let i = 0; i < node.children.length && left !== 0; i++) {
        left = narrowGroups(segment, node.children[i]!, left, found)
      }
      return left
    }
    case 'or': {
      let left = 0
      for (let i = 0; i < node.children.length && left !== groups; i++) {
        left |= narrowGroups(segment, node.children[i]!, groups, found)
      }
      return left
    }
    case 'bounds':
      return narrowGroups(segment, node.upper, groups, found)
  }
}

/** The column that answers the leaf, if it is a range and the segment has one. */
export function columnOf(segment: Segment, leaf: BoundsLeaf | RangeLeaf): RangeColumn | undefined {
  return leaf.kind === 'range' ? segment.rangeColumn(leaf.range.path, leaf.range.type) : undefined
}
