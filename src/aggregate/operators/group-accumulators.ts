/**
 * Accumulators that take all documents of a group at once. Most of them select some of the documents' values, in
 * document order or sorted. `$setWindowFields` keeps the values of a window in that order.
 */
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { compileSort } from '../../query/sort.ts'
import type { SortKey } from '../../query/sort-key.ts'
import { sortInSteps } from '../../query/sorter.ts'
import { isNil } from '../expression-values.ts'
import { arrayOf, type Compiler, copiesOf, fieldsOf, limitOf, returned } from './operator.ts'
import { fromEnd, fromStart, pickers } from './ordering.ts'
import { ascending, compileRanks, rankable } from './percentiles.ts'

/**
 * Returns the result for a group, pausing after every few hundred documents.
 * @param id of the group, for evaluating `n` and `initArgs`
 */
export type GroupAccumulator = (documents: readonly Document[], id: unknown) => Generator<undefined, unknown>

/** Documents evaluated between two pauses. */
const stepDocuments = 256

export interface Selection {
  /** Returns the value of a document; undefined to ignore the document. */
  readonly evaluate: (document: Document) => unknown
  /** undefined for document order, which equal values keep in any case. */
  readonly compare: ((a: unknown, b: unknown) => number) | undefined
  /**
   * @param given values in that order
   * @param id of the group
   */
  readonly result: (given: readonly unknown[], id: unknown) => unknown
}

/** Returns undefined for an unknown name. @throws TypeError for a malformed argument */
export function compileGroupAccumulator(
  name: string,
  argument: unknown,
  compiler: Compiler
): GroupAccumulator | undefined {
  if (name === '$accumulator') return accumulator(name, argument, compiler)
  const selection = compileSelection(name, argument, compiler)
  if (selection === undefined) return undefined
  const { evaluate, compare, result } = selection
  return function* (documents, id) {
    const given: unknown[] = []
    for (const [i, document] of documents.entries()) {
      const value = evaluate(document)
      if (value !== undefined) given.push(value)
      if (i % stepDocuments === stepDocuments - 1) yield undefined
    }
    return result(compare === undefined ? given : yield* sortInSteps(given, compare), id)
  }
}

/** Returns undefined for an unknown name. @throws TypeError for a malformed argument */
export function compileSelection(name: string, argument: unknown, compiler: Compiler): Selection | undefined {
  switch (name) {
    case '$top':
    case '$bottom':
    case '$topN':
    case '$bottomN':
      return compileTopBottom(name, argument, compiler)
    case '$percentile':
    case '$median': {
      const ranks = compileRanks(name, argument, compiler)
      return {
        evaluate: (document) => rankable(ranks.input(document)),
        compare: ascending as Selection['compare'],
        result: (given, id) => ranks.ofSorted(given as readonly number[], ranks.fractions(id as Document))
      }
    }
  }
  const pick = pickers.get(name)
  if (pick === undefined) return undefined
  const { compare, take } = pick
  const fields = fieldsOf(argument, name, ['input', 'n'], [])
  const [input, n] = [compiler.compile(fields.input), compiler.compile(fields.n)]
  return {
    evaluate: (document) => {
      const value = input(document)
      return isNil(value) && compare !== undefined ? undefined : (value ?? null)
    },
    compare,
    result: (given, id) => take(given, limitOf(n(id as Document), `${name}: n`))
  }
}

/** The value of a document, with its sort key. */
interface Placed {
  readonly key: SortKey
  readonly value: unknown
}

/** Selects from one end of the sorted documents. */
function compileTopBottom(name: string, argument: unknown, compiler: Compiler): Selection {
  const isOne = !name.endsWith('N')
  const fields = fieldsOf(argument, name, ['sortBy', 'output', ...(isOne ? [] : ['n'])], [])
  if (!isPlainObject(fields.sortBy) || Object.keys(fields.sortBy).length === 0) {
    throw new TypeError(`${name}: sortBy takes { path: 1 | -1 }, not ${describeType(fields.sortBy)}`)
  }
  const { keyOf, compareKeys } = compileSort(fields.sortBy)
  const [output, n] = [compiler.compile(fields.output), compiler.compile(isOne ? 1 : fields.n)]
  const take = name.startsWith('$top') ? fromStart : fromEnd
  return {
    evaluate: (document): Placed => ({ key: keyOf(document), value: output(document) ?? null }),
    compare: (a, b) => compareKeys((a as Placed).key, (b as Placed).key),
    result: (given, id) => {
      const count = limitOf(n(id as Document), `${name}: n`)
      const values = take(given as readonly Placed[], count).map(({ value }) => value)
      return isOne ? (values[0] ?? null) : values
    }
  }
}

type Callback = (...values: unknown[]) => unknown

/** REQUIRES: the parts are functions. */
function accumulator(name: string, argument: unknown, compiler: Compiler): GroupAccumulator {
  const optional = ['initArgs', 'merge', 'finalize', 'lang']
  const fields = fieldsOf(argument, name, ['init', 'accumulate', 'accumulateArgs'], optional)
  const { init, accumulate, finalize } = fields as { init: Callback; accumulate: Callback; finalize?: Callback }
  const initArgs = compiler.compile(fields.initArgs ?? [])
  const accumulateArgs = compiler.compile(fields.accumulateArgs)
  return function* (documents, id) {
    let state = init(...copiesOf(arrayOf(initArgs(id as Document), `${name}: initArgs`)))
    for (const [i, document] of documents.entries()) {
      state = accumulate(state, ...copiesOf(arrayOf(accumulateArgs(document), `${name}: accumulateArgs`)))
      if (i % stepDocuments === stepDocuments - 1) yield undefined
    }
    return returned(finalize === undefined ? state : finalize(state), name)
  }
}
