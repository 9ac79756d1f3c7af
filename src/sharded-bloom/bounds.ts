/**
 * A PairExpression prepared for one index: every pair tagged and hashed once, whatever the number of segments.
 */
import type { PairExpression } from '../model/pairs.ts'
import { topLevelKey } from '../model/path.ts'
import type { PairHash } from './pair-hash.ts'
import { Tag } from './pair-tags.ts'
import type { HashedPair } from './private-table.ts'

export interface BoundsLeaf {
  readonly kind: 'pair'
  readonly pair: HashedPair
  /** The documents that must not be in lower, though the pair's private row holds them. */
  readonly irregular: HashedPair
}

export type BoundsNode =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | BoundsLeaf
  | { readonly kind: 'and'; readonly children: readonly BoundsNode[] }
  | { readonly kind: 'or'; readonly children: readonly BoundsNode[] }
  | { readonly kind: 'not'; readonly child: BoundsNode }
  | { readonly kind: 'bounds'; readonly lower: BoundsNode; readonly upper: BoundsNode }

export interface PreparedBounds {
  readonly root: BoundsNode
  /** Every leaf once per occurrence: what has to be loaded before a segment can be evaluated. */
  readonly leaves: readonly BoundsLeaf[]
}

export function prepareBounds(expression: PairExpression, pairHash: PairHash): PreparedBounds {
  const leaves: BoundsLeaf[] = []
  const prepare = (node: PairExpression): BoundsNode => {
    switch (node.kind) {
      case 'all':
      case 'none':
        return node
      case 'pair': {
        const pair = pairHash.hashPair(node.pair)
        const irregular = pairHash.hash({ path: topLevelKey(pair.path), tag: Tag.irregular, key: 0 })
        const leaf: BoundsLeaf = { kind: 'pair', pair, irregular }
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
  return { root: prepare(expression), leaves }
}
