/** Prepares a PairExpression for one index: every pair is tagged and hashed once, whatever the number of segments. */
import type { PairExpression, Range } from '../model/pairs.ts'
import { topLevelKey } from '../model/path.ts'
import type { PairHash } from './pairs/pair-hash.ts'
import { Tag } from './pairs/pair-tags.ts'
import { QueryRange } from './ranges/interval.ts'
import type { HashedPair } from './segment/private-table.ts'
import { absent, type HashedLocation, type Location, type Segment } from './segment/segment.ts'

export interface BoundsLeaf {
  readonly kind: 'pair'
  /** Index of its entry in `locations`. */
  readonly index: number
  readonly pair: HashedPair
  /** The tag pair of documents that must stay out of lower although the pair's private row holds them. */
  readonly irregular: HashedPair
  /** Where a segment keeps the pair that has no private row for it. */
  readonly hashed: HashedLocation
}

/** ANDed ranges of one type on one path. */
export interface RangeLeaf {
  readonly kind: 'range'
  readonly range: QueryRange
  /** The type's pair: the only bound in a segment without a column of the values. */
  readonly type: BoundsLeaf
}

export type BoundsNode =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | BoundsLeaf
  | RangeLeaf
  | { readonly kind: 'and'; readonly children: readonly BoundsNode[] }
  | { readonly kind: 'or'; readonly children: readonly BoundsNode[] }
  | { readonly kind: 'not'; readonly child: BoundsNode }
  | { readonly kind: 'bounds'; readonly lower: BoundsNode; readonly upper: BoundsNode }

export interface PreparedBounds {
  readonly root: BoundsNode
  /** Every leaf, once per occurrence: these are loaded before a segment is evaluated. */
  readonly leaves: readonly (BoundsLeaf | RangeLeaf)[]
  /** Where the current segment keeps each leaf; refilled for every segment, and read before anything is awaited. */
  readonly locations: readonly LeafLocation[]
  /** The sealed segment that the locations are of. */
  located: Segment | undefined
}

export interface LeafLocation {
  pair: Location
  irregular: Location
}

export function prepareBounds(expression: PairExpression, pairHash: PairHash): PreparedBounds {
  const leaves: (BoundsLeaf | RangeLeaf)[] = []
  const locations: LeafLocation[] = []
  const leafOf = (pair: HashedPair): BoundsLeaf => {
    const irregular = pairHash.hash({ path: topLevelKey(pair.path), tag: Tag.irregular, key: 0 })
    const index = locations.push({ pair: absent, irregular: absent }) - 1
    return { kind: 'pair', index, pair, irregular, hashed: { kind: 'hashed', pair } }
  }
  const rangeLeaf = (ranges: readonly Range[]): RangeLeaf => {
    const { path, type } = ranges[0]!
    const leaf: RangeLeaf = {
      kind: 'range',
      range: new QueryRange(ranges),
      type: leafOf(pairHash.hashPair({ kind: 'type', path, type }))
    }
    leaves.push(leaf)
    return leaf
  }
  const prepareAnd = (terms: readonly PairExpression[]): BoundsNode => {
    const children: BoundsNode[] = []
    for (const term of terms) if (term.kind !== 'range') children.push(prepare(term))
    for (const each of rangesOf(terms)) children.push(rangeLeaf(each))
    return children.length === 1 ? children[0]! : { kind: 'and', children }
  }
  const prepare = (node: PairExpression): BoundsNode => {
    switch (node.kind) {
      case 'all':
      case 'none':
        return node
      case 'pair': {
        const leaf = leafOf(pairHash.hashPair(node.pair))
        leaves.push(leaf)
        return leaf
      }
      case 'range':
        return rangeLeaf([node.range])
      case 'and':
        return prepareAnd(node.children)
      case 'or':
        return { kind: 'or', children: node.children.map(prepare) }
      case 'not':
        return { kind: 'not', child: prepare(node.child) }
      case 'bounds':
        return { kind: 'bounds', lower: prepare(node.lower), upper: prepare(node.upper) }
    }
  }
  const root = prepare(expression)
  return { root, leaves, locations, located: undefined }
}

/** Groups the ranges by type and path. */
function rangesOf(terms: readonly PairExpression[]): Iterable<readonly Range[]> {
  let ranges: Map<string, Range[]> | undefined
  for (const term of terms) {
    if (term.kind !== 'range') continue
    ranges ??= new Map()
    const of = `${term.range.type} ${term.range.path}`
    const others = ranges.get(of)
    if (others === undefined) ranges.set(of, [term.range])
    else others.push(term.range)
  }
  return ranges?.values() ?? []
}
