/**
 * A PairExpression prepared for one index: every pair tagged and hashed once, whatever the number of segments.
 */
import type { PairExpression, Range } from '../model/pairs.ts'
import { topLevelKey } from '../model/path.ts'
import type { PairHash } from './pairs/pair-hash.ts'
import { Tag } from './pairs/pair-tags.ts'
import type { HashedPair } from './segment/private-table.ts'
import type { Location } from './segment/segment.ts'

export interface BoundsLeaf {
  readonly kind: 'pair'
  /** Its place in `locations`. */
  readonly index: number
  readonly pair: HashedPair
  /** The documents that must not be in lower, though the pair's private row holds them. */
  readonly irregular: HashedPair
}

export interface RangeLeaf {
  readonly kind: 'range'
  readonly range: Range
  /** All that is known of it in a segment that keeps no column of the values. */
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
  /** Every leaf once per occurrence: what has to be loaded before a segment can be evaluated. */
  readonly leaves: readonly (BoundsLeaf | RangeLeaf)[]
  /** Where a segment keeps what it knows of each leaf: filled anew for each segment, and read before anything is awaited. */
  readonly locations: LeafLocation[]
}

export interface LeafLocation {
  readonly pair: Location
  readonly irregular: Location
}

export function prepareBounds(expression: PairExpression, pairHash: PairHash): PreparedBounds {
  const leaves: (BoundsLeaf | RangeLeaf)[] = []
  let count = 0
  const leafOf = (pair: HashedPair): BoundsLeaf => {
    const irregular = pairHash.hash({ path: topLevelKey(pair.path), tag: Tag.irregular, key: 0 })
    return { kind: 'pair', index: count++, pair, irregular }
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
      case 'range': {
        const { range } = node
        const type = leafOf(pairHash.hashPair({ kind: 'type', path: range.path, type: range.type }))
        const leaf: RangeLeaf = { kind: 'range', range, type }
        leaves.push(leaf)
        return leaf
      }
      case 'and':
      case 'or':
        return { kind: node.kind, children: node.children.map(prepare) }
      case 'not':
        return { kind: 'not', child: prepare(node.child) }
      case 'bounds':
        return { kind: 'bounds', lower: prepare(node.lower), upper: prepare(node.upper) }
    }
  }
  const root = prepare(expression)
  return { root, leaves, locations: [] }
}
