/** A compiled filter: the decision, the bounds that the index can use, and what the planner needs to know. */
import type { PairExpression } from '../model/pairs.ts'
import type { Document } from '../model/types.ts'
import { allOf, type Filter } from './ast.ts'
import { boundsOf } from './bounds.ts'
import { type ByteTest, compileByteTest } from './byte-prefilter.ts'
import { hasCallback } from './callbacks.ts'
import { type Constraints, constraintsOf } from './constraints.ts'
import { pathsOfFilter } from './filter-paths.ts'
import { idsOf, namesId } from './ids.ts'
import { compileMatcher } from './matcher.ts'
import { mergeEqualities } from './merge-equalities.ts'
import { type ParseOptions, parseFilter } from './parse.ts'
import { compilePrefilter, type TextTest } from './prefilter.ts'
import { sanitizeFilter } from './sanitize.ts'
import { unboundedParts } from './unbounded.ts'

export type FilterOptions = ParseOptions

export interface CompiledFilter {
  /** Decides a match. Reads own properties only and never changes the document. */
  readonly matches: (document: Document) => boolean
  /** False only for a stored record whose document does not match; undefined when text cannot decide. */
  readonly prefilter: TextTest | undefined
  /** Makes a test like the prefilter, on bytes, for one read; undefined when bytes cannot decide. */
  readonly byteTest?: (() => ByteTest) | undefined
  /** Whether `matches` may call a function of the caller. */
  readonly hasCallback: boolean
  /** lower ⊆ matches ⊆ upper. */
  readonly bounds: PairExpression
  /** If every match has one of these scalar `_id`s: the list, without duplicates. The filter still decides. */
  readonly ids: readonly unknown[] | undefined
  /** The paths that `matches` looks at; undefined if it may look at anything. */
  readonly paths: () => ReadonlySet<string> | undefined
  /** Whether every match satisfies some condition on its `_id`. */
  readonly namesId: boolean
  /** What every match satisfies on single paths, for declared indexes. */
  readonly constraints: () => Constraints
  /** Parts of the filter that pairs cannot narrow, for explain(): `$where`, `$mod at a.b`. */
  readonly unbounded: readonly string[]
  /** A copy of the filter, which can be compiled again; must not be changed. Undefined if it was not compiled from one. */
  readonly source: Document | undefined
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
  const source = sanitizeFilter(filter)
  return new ParsedFilter(mergeEqualities(parseCopy(source, options)), source)
}

/** Compiles a parsed filter, or one made without parsing. REQUIRES: its values are never changed. */
export function compileNormalForm(filter: Filter): CompiledFilter {
  return new ParsedFilter(mergeEqualities(filter))
}

/**
 * Parses a filter once, to be combined with several others.
 * @returns a function that compiles the conjunction of another filter and this one
 * @throws as compileFilter() does
 */
export function narrowedBy(filter: unknown, options: FilterOptions = {}): (other: Filter) => CompiledFilter {
  const parsed = normalForm(filter, options)
  return (other) => compileNormalForm(allOf([other, parsed]))
}

/** Parses a copy of the filter. @throws as compileFilter() does */
export function normalForm(filter: unknown, options: FilterOptions = {}): Filter {
  return parseCopy(sanitizeFilter(filter), options)
}

function parseCopy(filter: Document, options: FilterOptions): Filter {
  return parseFilter(filter, { options, isTopLevel: true, path: '' })
}

/** Compiles each part on demand: a read that finds no candidate never needs the matcher. */
class ParsedFilter implements CompiledFilter {
  readonly #filter: Filter
  #matches: CompiledFilter['matches'] | undefined
  /** null when there is none. */
  #prefilter: TextTest | null | undefined
  #byteTest: (() => ByteTest) | null | undefined
  readonly bounds: PairExpression
  readonly ids: readonly unknown[] | undefined
  readonly source: Document | undefined

  constructor(filter: Filter, source?: Document) {
    this.#filter = filter
    this.source = source
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

  get hasCallback(): boolean {
    return hasCallback(this.#filter)
  }

  get paths(): () => ReadonlySet<string> | undefined {
    return () => pathsOfFilter(this.#filter)
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
