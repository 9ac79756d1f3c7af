/**
 * A filter object, compiled: the decision, the bounds the index can give, and what the planner wants to know.
 */
import type { PairExpression } from '../model/pairs.ts'
import type { Document } from '../model/types.ts'
import { boundsOf } from './bounds.ts'
import { type ByteTest, compileByteTest } from './byte-prefilter.ts'
import { type Constraints, constraintsOf } from './constraints.ts'
import { idsOf } from './ids.ts'
import { compileMatcher } from './matcher.ts'
import { type ParseOptions, parseFilter } from './parse.ts'
import { compilePrefilter, type TextTest } from './prefilter.ts'
import { sanitizeFilter } from './sanitize.ts'
import { unboundedParts } from './unbounded.ts'

export type FilterOptions = ParseOptions

export interface CompiledFilter {
  /** The decision. Reads own properties only and never changes the document. */
  readonly matches: (document: Document) => boolean
  /** False for a stored record only if its document does not match; undefined when texts cannot tell. */
  readonly prefilter: TextTest | undefined
  /** Makes a test like the prefilter, of bytes, for one read; undefined when bytes cannot tell. */
  readonly byteTest?: (() => ByteTest) | undefined
  /** lower ⊆ matches ⊆ upper. */
  readonly bounds: PairExpression
  /** When every match has one of these scalar `_id`s: the list, without repetition. The filter still decides. */
  readonly ids: readonly unknown[] | undefined
  /** What every match satisfies path by path, for declared indexes. */
  readonly constraints: () => Constraints
  /** What pairs cannot narrow, for explain(): `$where`, `$mod at a.b`. */
  readonly unbounded: readonly string[]
}

/**
 * Compiles a filter of MongoDB's query language. The filter is copied: changing it later changes nothing.
 * @throws PetalError BadValue, FailedToParse or TypeMismatch with `details: { operator, path }`; CommandNotSupported
 * for `$text`, `$jsonSchema`, geospatial operators, and `$expr` without `options.expression`
 * @example
 * const filter = compileFilter({ lang: 'en', 'user.followers': { $gte: 1000 } })
 * filter.matches({ lang: 'en', user: { followers: 2500 } }) // true
 */
export function compileFilter(filter: unknown, options: FilterOptions = {}): CompiledFilter {
  const parsed = parseFilter(sanitizeFilter(filter), { options, isTopLevel: true, path: '' })
  return {
    matches: compileMatcher(parsed),
    prefilter: compilePrefilter(parsed),
    byteTest: compileByteTest(parsed),
    bounds: boundsOf(parsed),
    ids: idsOf(parsed),
    constraints: () => constraintsOf(parsed),
    unbounded: unboundedParts(parsed)
  }
}
