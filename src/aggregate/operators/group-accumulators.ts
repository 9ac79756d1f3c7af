/** Accumulators that are given all of a group's documents at once. */
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { compileSort } from '../../query/sort.ts'
import { arrayOf, type Compiler, fieldsOf, integerOf } from './operator.ts'
import { picks } from './ordering.ts'
import { compileRanks } from './percentiles.ts'

/** @param id of the group: what `n` and `initArgs` are evaluated for */
export type GroupAccumulator = (documents: readonly Document[], id: unknown) => unknown

export const groupAccumulatorNames: readonly string[] = [
  ...Object.keys(picks),
  '$top',
  '$bottom',
  '$topN',
  '$bottomN',
  '$percentile',
  '$median',
  '$accumulator'
]

/** undefined for a name that is none. @throws TypeError for a malformed argument */
export function compileGroupAccumulator(
  name: string,
  argument: unknown,
  compiler: Compiler
): GroupAccumulator | undefined {
  const pick = Object.hasOwn(picks, name) ? picks[name] : undefined
  if (pick !== undefined) {
    const fields = fieldsOf(argument, name, ['input', 'n'], [])
    const [input, n] = [compiler.compile(fields.input), compiler.compile(fields.n)]
    return (documents, id) => {
      const values = documents.map((document) => input(document) ?? null)
      return pick(values, integerOf(n(id as Document), `${name}: n`, 1))
    }
  }
  switch (name) {
    case '$top':
    case '$bottom':
    case '$topN':
    case '$bottomN':
      return ordered(name, argument, compiler)
    case '$percentile':
    case '$median': {
      const ranks = compileRanks(name, argument, compiler)
      return (documents, id) => ranks.of(documents.map(ranks.input), ranks.fractions(id as Document))
    }
    case '$accumulator':
      return accumulator(name, argument, compiler)
  }
  return undefined
}

/** One end of the documents in an order. */
function ordered(name: string, argument: unknown, compiler: Compiler): GroupAccumulator {
  const isOne = !name.endsWith('N')
  const fields = fieldsOf(argument, name, ['sortBy', 'output', ...(isOne ? [] : ['n'])], [])
  if (!isPlainObject(fields.sortBy) || Object.keys(fields.sortBy).length === 0) {
    throw new TypeError(`${name}: sortBy takes { path: 1 | -1 }, not ${describeType(fields.sortBy)}`)
  }
  const { keyOf, compareKeys } = compileSort(fields.sortBy)
  const [output, n] = [compiler.compile(fields.output), compiler.compile(isOne ? 1 : fields.n)]
  return (documents, id) => {
    const count = integerOf(n(id as Document), `${name}: n`, 1)
    const sorted = documents
      .map((document) => ({ document, key: keyOf(document) }))
      .sort((a, b) => compareKeys(a.key, b.key))
    const wanted = name.startsWith('$top') ? sorted.slice(0, count) : sorted.slice(-count)
    const values = wanted.map(({ document }) => output(document) ?? null)
    return isOne ? (values[0] ?? null) : values
  }
}

type Callback = (...values: unknown[]) => unknown

/** REQUIRES: the parts were found to be functions. */
function accumulator(name: string, argument: unknown, compiler: Compiler): GroupAccumulator {
  const optional = ['initArgs', 'merge', 'finalize', 'lang']
  const fields = fieldsOf(argument, name, ['init', 'accumulate', 'accumulateArgs'], optional)
  const { init, accumulate, finalize } = fields as { init: Callback; accumulate: Callback; finalize?: Callback }
  const initArgs = compiler.compile(fields.initArgs ?? [])
  const accumulateArgs = compiler.compile(fields.accumulateArgs)
  return (documents, id) => {
    let state = init(...arrayOf(initArgs(id as Document), `${name}: initArgs`))
    for (const document of documents) {
      state = accumulate(state, ...arrayOf(accumulateArgs(document), `${name}: accumulateArgs`))
    }
    return finalize === undefined ? state : finalize(state)
  }
}
