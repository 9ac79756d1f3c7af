/**
 * Queries the store's value filters for the ordinals where documents within a filter's bounds may be, and how many
 * tables that excludes.
 *
 * Invariant: a document in the upper bound of an expression has its ordinal in the expression's ranges. Only required
 * pairs narrow them: a negation, or a predicate without pairs, excludes no ordinal.
 */
import type { AbstractSnapshot } from 'abstract-level'
import type { KeyRanges } from '../../lsm/value/key-ranges.ts'
import type { Pair, PairExpression } from '../../model/pairs.ts'
import { type Area, compareBytes } from '../store/layout.ts'
import { everyOrdinal, intersect, isEveryOrdinal, type OrdinalRanges, unite } from './ordinal-ranges.ts'

/** Implemented by LsmLevel. */
export interface PairFilters {
  keyRanges(
    pairs: readonly unknown[],
    options: { readonly prefix: Uint8Array; readonly snapshot: AbstractSnapshot | undefined }
  ): Promise<KeyRanges>
}

/** Ordinal ranges, and statistics of the tables. */
export interface Pruned {
  readonly ranges: OrdinalRanges
  /** Tables with documents of the collection. */
  readonly tables: number
  /** Lower bound of the tables that need not be read. */
  readonly pruned: number
}

/** Maximum number of branches of an `$or` or `$in`: each is a separate filter query. */
const maxBranches = 512

const unpruned: Pruned = { ranges: everyOrdinal, tables: 0, pruned: 0 }
const nothing: Pruned = { ranges: [], tables: 0, pruned: 0 }

export class TablePruning {
  readonly #filters: PairFilters
  readonly #docs: Area
  readonly #snapshot: AbstractSnapshot | undefined

  /** @param snapshot of the view that is pruned */
  constructor(filters: PairFilters, docs: Area, snapshot: AbstractSnapshot | undefined) {
    this.#filters = filters
    this.#docs = docs
    this.#snapshot = snapshot
  }

  /** Returns undefined if the expression does not require a pair of every document. */
  prune(expression: PairExpression): Promise<Pruned> | undefined {
    return requiresPairs(expression) ? this.#prune(expression) : undefined
  }

  async #prune(expression: PairExpression): Promise<Pruned> {
    switch (expression.kind) {
      case 'none':
        return nothing
      case 'all':
      case 'not':
        return unpruned
      case 'bounds':
        return this.#prune(expression.upper)
      case 'pair':
      case 'range':
        return this.#prunePairs([pairOf(expression)])
      case 'and':
        return this.#pruneAll(expression.children)
      case 'or':
        return this.#pruneAny(expression.children)
    }
  }

  /** Pairs are queried together: a table must have all of them. */
  async #pruneAll(children: readonly PairExpression[]): Promise<Pruned> {
    const pairs: Pair[] = []
    const others: PairExpression[] = []
    for (const child of children.map(upperOf)) {
      if (child.kind === 'pair' || child.kind === 'range') pairs.push(pairOf(child))
      else if (requiresPairs(child)) others.push(child)
    }
    let found = pairs.length === 0 ? unpruned : await this.#prunePairs(pairs)
    for (const other of others) {
      if (found.ranges.length === 0) break
      const { ranges, tables, pruned } = await this.#prune(other)
      found = {
        ranges: intersect(found.ranges, ranges),
        tables: Math.max(found.tables, tables),
        pruned: Math.max(found.pruned, pruned)
      }
    }
    return found
  }

  async #pruneAny(children: readonly PairExpression[]): Promise<Pruned> {
    let ranges: OrdinalRanges = []
    let tables = 0
    let kept = 0
    for (const child of children) {
      const found = await this.#prune(child)
      ranges = unite([...ranges, ...found.ranges])
      if (isEveryOrdinal(ranges)) return unpruned
      tables = Math.max(tables, found.tables)
      kept += found.tables - found.pruned
    }
    // The branches may keep the same tables.
    return { ranges, tables, pruned: Math.max(0, tables - kept) }
  }

  async #prunePairs(pairs: readonly Pair[]): Promise<Pruned> {
    const { ranges, tables, pruned } = await this.#filters.keyRanges(pairs, {
      prefix: this.#docs.first,
      snapshot: this.#snapshot
    })
    const found = ranges.map(({ smallest, largest }) => ({
      from: compareBytes(smallest, this.#docs.first) < 0 ? 0 : this.#docs.ordinalOf(smallest),
      to: compareBytes(largest, this.#docs.end) >= 0 ? Number.POSITIVE_INFINITY : this.#docs.ordinalOf(largest) + 1
    }))
    return { ranges: unite(found), tables, pruned }
  }
}

function upperOf(expression: PairExpression): PairExpression {
  return expression.kind === 'bounds' ? upperOf(expression.upper) : expression
}

/** A value in a range exists only where its path does. */
function pairOf(expression: Extract<PairExpression, { kind: 'pair' | 'range' }>): Pair {
  return expression.kind === 'pair' ? expression.pair : { kind: 'exists', path: expression.range.path }
}

/** Whether every document in the upper bound has some pair of the expression, so that filters can exclude tables. */
function requiresPairs(expression: PairExpression): boolean {
  switch (expression.kind) {
    case 'none':
    case 'pair':
    case 'range':
      return true
    case 'all':
    case 'not':
      return false
    case 'bounds':
      return requiresPairs(expression.upper)
    case 'and':
      return expression.children.some(requiresPairs)
    case 'or':
      return expression.children.length <= maxBranches && expression.children.every(requiresPairs)
  }
}
