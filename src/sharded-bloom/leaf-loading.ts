/** Prepares the leaves of an expression for a segment: locates each and loads its rows, the most selective first. */
import type { BoundsLeaf, BoundsNode, PreparedBounds } from './bounds.ts'
import { areSparse } from './segment/and-groups.ts'
import { columnOf } from './segment/groups.ts'
import { absent, type Segment } from './segment/segment.ts'
import type { SegmentHandle } from './segment/segment-handle.ts'

const none: readonly BoundsLeaf[] = []

/** Fills in where the segment keeps each leaf. */
export function locateAll({ segment, open }: SegmentHandle, bounds: PreparedBounds): void {
  if (bounds.located === segment) return
  const { leaves, locations } = bounds
  for (const leaf of leaves) {
    if (columnOf(segment, leaf) !== undefined) continue
    const { index, pair, irregular, hashed } = leaf.kind === 'range' ? leaf.type : leaf
    const location = locations[index]!
    location.pair = segment.locate(pair, hashed)
    // Only private rows make anything certain.
    location.irregular = location.pair.kind === 'private' ? segment.locate(irregular) : absent
  }
  // In an open segment the next document may change them.
  bounds.located = open === undefined ? segment : undefined
}

/** Loads the upper-level frames of the leaves. */
export function loadGroups(segment: Segment, { leaves, locations }: PreparedBounds): Promise<void>[] | undefined {
  let pending: Promise<void>[] | undefined
  for (const leaf of leaves) {
    if (columnOf(segment, leaf) !== undefined) continue
    const { pair } = locations[leaf.kind === 'range' ? leaf.type.index : leaf.index]!
    pending = withPending(pending, segment.loadGroups(pair))
  }
  return pending
}

/** The hashed pairs of an AND to which few groups are left: if they leave no document, no other row is read. */
export function rarePairs(
  segment: Segment,
  { root, locations }: PreparedBounds,
  groups: number
): readonly BoundsLeaf[] {
  if (root.kind !== 'and' || !areSparse(groups, segment.groupDocuments)) return none
  const isHashed = (node: BoundsNode): node is BoundsLeaf =>
    node.kind === 'pair' && locations[node.index]!.pair.kind === 'hashed'
  return root.children.filter(isHashed)
}

/** Loads the rows of pairs. */
export function loadPairs(
  segment: Segment,
  { locations }: PreparedBounds,
  pairs: readonly BoundsLeaf[]
): Promise<void>[] | undefined {
  let pending: Promise<void>[] | undefined
  for (const { index } of pairs) pending = withPending(pending, segment.load(locations[index]!.pair))
  return pending
}

/** Loads the rows of all leaves except these pairs. @param pending loads already under way */
export function loadOthers(
  segment: Segment,
  { leaves, locations }: PreparedBounds,
  pairs: readonly BoundsLeaf[],
  pending: Promise<void>[] | undefined
): Promise<void>[] | undefined {
  let all = pending
  for (const leaf of leaves) {
    if (leaf.kind === 'pair' && pairs.includes(leaf)) continue
    const column = columnOf(segment, leaf)
    if (column !== undefined && leaf.kind === 'range') {
      all = withPending(all, column.load(leaf.range))
      continue
    }
    const { pair, irregular } = locations[leaf.kind === 'range' ? leaf.type.index : leaf.index]!
    all = withPending(all, segment.load(pair))
    all = withPending(all, segment.load(irregular))
  }
  return all
}

function withPending(pending: Promise<void>[] | undefined, loading: void | Promise<void>): Promise<void>[] | undefined {
  if (loading === undefined) return pending
  if (pending === undefined) return [loading]
  pending.push(loading)
  return pending
}
