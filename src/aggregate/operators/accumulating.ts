/** Accumulators as expressions: over several arguments, or over the elements of a single array. */
import { accumulatorClass } from '../accumulators.ts'
import { listOf, type Operator, type Operators } from './operator.ts'
import { compileRanks } from './percentiles.ts'

const names = ['$sum', '$avg', '$min', '$max', '$stdDevPop', '$stdDevSamp', '$mergeObjects']

export const accumulatingOperators: Operators = {
  ...Object.fromEntries(names.map((name) => [name, accumulating])),
  $percentile: ranked,
  $median: ranked
}

function accumulating(...[argument, compiler, name]: Parameters<Operator>): ReturnType<Operator> {
  const Class = accumulatorClass(name)
  if (Class === undefined) throw new TypeError(`${name} is not an accumulator`)
  const values = listOf(argument).map((each) => compiler.compile(each))
  return (document) => {
    const [first, ...others] = values.map((value) => value(document))
    const accumulator = new Class()
    const all = others.length === 0 && Array.isArray(first) ? first : [first, ...others]
    for (const value of all) {
      compiler.loops.count()
      accumulator.add(value)
    }
    return accumulator.result()
  }
}

function ranked(...[argument, compiler, name]: Parameters<Operator>): ReturnType<Operator> {
  const ranks = compileRanks(name, argument, compiler)
  return (document) => ranks.of(listOf(ranks.input(document)), ranks.fractions(document))
}
