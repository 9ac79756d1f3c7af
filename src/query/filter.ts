/**
 * A filter object, compiled: the decision, the bounds the index can give, and what the planner wants to know.
 */
import type { PairExpression } from '../model/pairs.ts'
import type { Document } from '../model/types.ts'
import { allOf, type Filter } from './ast.ts'
import { boundsOf } from './bounds.ts'
import { type ByteTest, compileByteTest } from './byte-prefilter.ts'
import { type Constraints, constraintsOf } from './constraints.ts'
import { idsOf, namesId } from './ids.ts'
import { compileMatcher } from './matcher.ts'
import { mergeEqualities } from './merge-equalities.ts'
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
  /** Every match satisfies some condition on its `_id`. */
  readonly namesId: boolean
  /** What every match satisfies path by path, for declared indexes. */
  readonly constraints: () => Constraints
  /** What pairs cannot narrow, for explain(): `$where`, `$mod at a.b`. */
  readonly unbounded: readonly string[]
}

/**
 * Compiles a filter of MongoDB's query language. The filter is copied: changing it later changes nothing.
 * @throws PetalError BadValue, FailedToParse or TypeMismatch with `details: { operator, path }`; CommandNotSupported
 * for `$text`, geospatial operators, and `$expr` without `options.expression`
 * @example
 * const filter = compileFilter({ lang: 'en', 'user.followers': { $gte: 1000 } })
 * filter.matches({ lang: 'en', user: { followers: 2500 } }) // true
 */
export function compileFilter(filter: unknown, options: FilterOptions = {}): CompiledFilter {
  return compileNormalForm(normalForm(filter, options))
}

/** Compiles what parsing gives, or what was made without. REQUIRES: its values are never changed. */
export function compileNormalForm(filter: Filter): CompiledFilter {
  return new ParsedFilter(mergeEqualities(filter))
}

/**
 * Parses a filter once, for all that it narrows.
 * @returns makes a filter of what satisfies another one and this
 * @throws as compileFilter() does
 */
export function narrowedBy(filter: unknown, options: FilterOptions = {}): (other: Filter) => CompiledFilter {
  const parsed = normalForm(filter, options)
  return (other) => compileNormalForm(allOf([other, parsed]))
}

/** Parses a filter. It is copied. @throws as compileFilter() does */
export function normalForm(filter: unknown, options: FilterOptions = {}): Filter {
  return parseFilter(sanitizeFilter(filter), { options, isTopLevel: true, path: '' })
}

/** Compiles each part when it is asked for: a read that finds no candidate never tests one. */
class ParsedFilter implements CompiledFilter {
  readonly #filter: Filter
  #matches: CompiledFilter['matches'] | undefined
  /** null when there is none. */
  #prefilter: TextTest | null | undefined
  #byteTest: (() => ByteTest) | null | undefined
  readonly bounds: PairExpression
  readonly ids: readonly unknown[] | undefined

  constructor(filter: Filter) {
    this.#filter = filter
    this.bounds = boundsOf(filter)
    this.ids = idsOf(filter)
  }

  get matches(): CompiledFilter['matches'] {
    this.#matches ??= compileMatcher(this.#filter)
    return this.#matches
  }

  get prefilter(): TextTest | undefined {
    if (this.#prefilter === undefined) this.#prefilter = compilePrefilter(this.#filter) ?? null
    return this.#prefilter ?? undefined
  }

  get byteTest(): (() => ByteTest) | undefined {
    if (this.#byteTest === undefined) this.#byteTest = compileByteTest(this.#filter) ?? null
    return this.#byteTest ?? undefined
  }

  get namesId(): boolean {
    return namesId(this.#filter)
  }

  get constraints(): () => Constraints {
    return () => constraintsOf(this.#filter)
  }

  get unbounded(): readonly string[] {
    return unboundedParts(this.#filter)
  }
}
