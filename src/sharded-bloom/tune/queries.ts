/** The queries that an index is tuned for: their bounds or, when no queries are known, probes in their place. */
import { and, or, type PairExpression, pairOf } from '../../model/pairs.ts'
import type { TypeCode } from '../../model/types.ts'
import { Tag } from '../pairs/pair-tags.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { TuneSample } from './sample.ts'

export interface TuneQuery {
  readonly bounds: PairExpression
  /** Frequency relative to the other queries. */
  readonly weight: number
}

/** Maximum number of distinct queries to try. */
const maxQueries = 64
/** Maximum number of pairs and ranges in one query. */
const maxTerms = 256
const probesOfAKind = 64

/** Returns the queries to try: the most frequent ones among those with at most maxTerms terms. */
export function selectQueries(queries: readonly TuneQuery[]): readonly TuneQuery[] {
  const kept = queries.filter(({ bounds }) => termsOf(bounds).length <= maxTerms)
  return kept.length <= maxQueries ? kept : [...kept].sort((a, b) => b.weight - a.weight).slice(0, maxQueries)
}

export type Term = Extract<PairExpression, { kind: 'pair' | 'range' }>

/** The pairs and ranges of an expression, including repetitions. */
export function termsOf(expression: PairExpression): readonly Term[] {
  const terms: Term[] = []
  const visit = (node: PairExpression): void => {
    switch (node.kind) {
      case 'pair':
      case 'range':
        terms.push(node)
        return
      case 'and':
      case 'or':
        node.children.forEach(visit)
        return
      case 'not':
        visit(node.child)
        return
      case 'bounds':
        visit(node.lower)
        visit(node.upper)
        return
    }
  }
  visit(expression)
  return terms
}

/**
 * Returns equalities with a value that no document has, equalities with one that some document has, and ANDs and ORs of
 * two of the latter. Deterministic for a given sample.
 */
export function probesOf(sample: TuneSample, isPrivate: (pair: HashedPair) => boolean): readonly TuneQuery[] {
  const random = generator(sample.size)
  const documents = sample.sampler.documents().map((pairs) => pairs.filter((pair) => !isPrivate(pair)))
  const draw = (): HashedPair | undefined => {
    const pairs = documents[Math.floor(random() * documents.length)] ?? []
    return pairs[Math.floor(random() * pairs.length)]
  }
  const bounds: PairExpression[] = []
  for (let i = 0; i < probesOfAKind; i++) {
    const [one, other] = [draw(), draw()]
    if (one === undefined || other === undefined) continue
    bounds.push(equality({ ...one, key: absentKey(one.key, random) }))
    bounds.push(equality(one))
    if (i % 4 === 0) bounds.push(and([equality(one), equality(other)]), or([equality(one), equality(other)]))
  }
  return bounds.map((expression) => ({ bounds: expression, weight: 1 }))
}

function equality({ path, tag, key }: Pick<HashedPair, 'path' | 'tag' | 'key'>): PairExpression {
  return tag === Tag.size
    ? pairOf({ kind: 'size', path, length: Number(key) })
    : pairOf({ kind: 'value', path, value: { type: tag as TypeCode, key, exact: true } })
}

function absentKey(key: number | string, random: () => number): number | string {
  return typeof key === 'string' ? `\u0000${random()}` : random() + 0.5 ** 40
}

/** Generates numbers in [0, 1). @see Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014 */
function generator(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}
