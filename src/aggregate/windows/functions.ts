/** Window functions by name: their arguments, and how they are computed. */

import { isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { type Accumulator, accumulatorClass } from '../accumulators.ts'
import { stageError } from '../errors.ts'
import type { Expression } from '../expression-compile.ts'
import { carried, type Filling, interpolated } from '../gap-filling.ts'
import { compileSelection } from '../operators/group-accumulators.ts'
import type { Partition } from '../ordered-partitions.ts'
import { type Bounds, parseBounds, unbounded } from './bounds.ts'
import { compileDerivative, compileIntegral } from './calculus.ts'
import { hasVariable } from './constants.ts'
import { Covariance } from './covariance.ts'
import { SlidingExtreme } from './extremes.ts'
import { framed } from './frames.ts'
import { compileMovingAverage } from './moving-average.ts'
import { checkEmpty, compileFirstLast, compileRank, compileShift, requireSingleSort } from './order.ts'
import { growing, Recomputing, type Sliding, sliding, valuesOf } from './sliding.ts'
import { SlidingSum } from './sliding-sum.ts'
import { SlidingSelection } from './sorted-window.ts'
import type { Column, FramedFunction, FunctionContext, WindowFunction } from './window-function.ts'

/** Functions of all documents of a window. */
const overWindows = [
  '$sum',
  '$avg',
  '$min',
  '$max',
  '$count',
  '$push',
  '$addToSet',
  '$first',
  '$last',
  '$firstN',
  '$lastN',
  '$minN',
  '$maxN',
  '$top',
  '$topN',
  '$bottom',
  '$bottomN',
  '$median',
  '$percentile',
  '$stdDevPop',
  '$stdDevSamp',
  '$covariancePop',
  '$covarianceSamp',
  '$derivative',
  '$integral'
]

/** Functions of a document's place in its partition. */
const overPartitions: ReadonlyMap<string, (argument: unknown, context: FunctionContext) => WindowFunction> = new Map([
  ['$rank', compileRank],
  ['$denseRank', compileRank],
  ['$documentNumber', compileRank],
  ['$shift', compileShift],
  ['$expMovingAvg', compileMovingAverage],
  ['$locf', compileCarried],
  ['$linearFill', compileInterpolated]
])

/**
 * @param spec a function with its argument, and its window
 * @param field the output field
 * @throws PetalError, TypeError
 */
export function compileFunction(spec: unknown, field: string, outer: Omit<FunctionContext, 'name'>): WindowFunction {
  const { place } = outer
  const [name, ...others] = isPlainObject(spec) ? Object.keys(spec).filter((key) => key.startsWith('$')) : []
  if (!isPlainObject(spec) || name === undefined) {
    const found = isPlainObject(spec) ? 'an object without an operator' : describeType(spec)
    throw stageError(
      'FailedToParse',
      place,
      `output for '${field}' must be a window function such as { $sum: '$x' }, not ${found}`
    )
  }
  const compilePartition = overPartitions.get(name)
  if (compilePartition === undefined && !overWindows.includes(name)) {
    throw stageError('FailedToParse', place, `output for '${field}': there is no window function ${name}`)
  }
  const other = others[0] ?? Object.keys(spec).find((key) => key !== name && key !== 'window')
  if (other !== undefined)
    throw stageError('FailedToParse', place, `output for '${field}' has '${other}' in addition to ${name}`)
  const context: FunctionContext = { ...outer, name }
  const hasWindow = spec.window !== undefined
  if (compilePartition === undefined) {
    if (name === '$derivative' && !hasWindow) throw stageError('FailedToParse', place, `${name} needs a window`)
    const bounds = hasWindow ? parseBounds(spec.window, context) : unbounded
    return framed(bounds, compileFramed(spec[name], bounds, context))
  }
  if (hasWindow) throw stageError('FailedToParse', place, `${name} takes no window`)
  return compilePartition(spec[name], context)
}

function compileFramed(argument: unknown, bounds: Bounds, context: FunctionContext): FramedFunction {
  const { name, compiler } = context
  switch (name) {
    case '$count':
      checkEmpty(argument, context)
      return () => ({ value: ({ from, to }) => to - from })
    case '$first':
    case '$last':
      return compileFirstLast(argument, context)
    case '$derivative':
      return compileDerivative(argument, context)
    case '$integral':
      return compileIntegral(argument, context)
  }
  const selection = compileSelection(name, argument, compiler)
  if (selection !== undefined) {
    // Reports errors of n and p now, unless they depend on variables.
    if (isPlainObject(argument) && ![argument.n, argument.p].some(hasVariable)) selection.result([], {})
    return sliding(valuesOf(selection.evaluate), () => new SlidingSelection(selection))
  }
  const values = valuesOf(compiler.compile(argument))
  const begin = accumulatorOf(name)
  return beginsWithPartition(bounds) ? growing(values, begin) : sliding(values, slidingOf(name, begin))
}

function beginsWithPartition({ kind, lower }: Bounds): boolean {
  return kind === 'range' ? lower === 'unbounded' : lower === Number.NEGATIVE_INFINITY
}

function accumulatorOf(name: string): () => Accumulator {
  if (name === '$covariancePop' || name === '$covarianceSamp') return () => new Covariance(name === '$covarianceSamp')
  const Class = accumulatorClass(name)
  if (Class === undefined) throw new TypeError(`${name} is not an accumulator`)
  return () => new Class()
}

function slidingOf(name: string, begin: () => Accumulator): () => Sliding {
  switch (name) {
    case '$sum':
      return () => new SlidingSum(false)
    case '$avg':
      return () => new SlidingSum(true)
    case '$min':
      return () => new SlidingExtreme(1)
    case '$max':
      return () => new SlidingExtreme(-1)
    default:
      return () => new Recomputing(begin)
  }
}

function compileCarried(argument: unknown, { compiler }: FunctionContext): WindowFunction {
  const current = compiler.compile(argument)
  return filled(current, ({ documents }) => carried(documents, current))
}

function compileInterpolated(argument: unknown, context: FunctionContext): WindowFunction {
  const { name, place, compiler } = context
  const { path } = requireSingleSort(context)
  const current = compiler.compile(argument)
  const line = { place, method: name, current, what: 'its input', path }
  return filled(current, ({ documents }) => interpolated(documents, line))
}

/** Computes all values of a partition before its first document is output. */
function filled(current: Expression, fill: (partition: Partition) => Filling): WindowFunction {
  return (partition): Column => {
    let values: readonly unknown[] = []
    return {
      *prepare(position) {
        if (position === 0) values = yield* fill(partition)
      },
      value(position) {
        const value = values[position]
        return value === undefined ? current(partition.documents[position] ?? {}) : value
      }
    }
  }
}
