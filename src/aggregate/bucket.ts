/** `$bucket`: groups documents by ranges of a value, with constant boundaries. */
import { compareValues } from '../model/compare.ts'
import { typeNames, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { checkKeys, objectOf } from './arguments.ts'
import { hasOperator } from './constants.ts'
import { type StagePlace, stageError } from './errors.ts'
import type { Expressions } from './expression.ts'
import type { Expression } from './expression-compile.ts'
import { compileFields, countOnly, type Grouping, isPathOrOperator } from './group.ts'

export function compileBucket(spec: unknown, place: StagePlace, expressions: Expressions): Grouping {
  const bucket = objectOf(spec, place)
  checkKeys(bucket, ['groupBy', 'boundaries', 'default', 'output'], place)
  const { groupBy, boundaries, output = countOnly } = bucket
  if (!isPathOrOperator(groupBy)) {
    throw stageError('BadValue', place, 'groupBy takes a path that begins with $, or an operator')
  }
  if (!Array.isArray(boundaries) || boundaries.length < 2) {
    throw stageError('BadValue', place, 'boundaries must be an array of at least two values')
  }
  const constant = (expression: unknown, what: string): Expression => {
    if (expressions.isConstant(expression)) return expressions.compile(expression, place)
    throw stageError('BadValue', place, `${what} must be constant, got a non-constant ${describeType(expression)}`)
  }
  const limits = boundaries.map((boundary) => constant(boundary, 'boundaries'))
  const others = Object.hasOwn(bucket, 'default') ? [constant(bucket.default, 'default')] : []
  let bounds: readonly unknown[] = []
  let otherwise: readonly unknown[] = []
  const evaluate = (): void => {
    bounds = limits.map(constantValue)
    otherwise = others.map(constantValue)
    checkBounds(bounds, otherwise, place)
  }
  const isLoadedLater = hasOperator([boundaries, bucket.default])
  if (isLoadedLater) expressions.require(place, evaluate)
  else evaluate()
  const value = expressions.compile(groupBy, place)
  const id: Expression = (document) => {
    const by = value(document)
    const next = bounds.findIndex((bound) => compareValues(by, bound) < 0)
    if (next > 0) return bounds[next - 1]
    if (otherwise.length > 0) return otherwise[0]
    throw stageError('BadValue', place, 'a value is outside the boundaries, and there is no default')
  }
  return { place, id, fields: compileFields(objectOf(output, place, 'output'), place, expressions), isOrdered: true }
}

function constantValue(constant: Expression): unknown {
  return constant({}) ?? null
}

/** @param otherwise the default, if there is one */
function checkBounds(bounds: readonly unknown[], otherwise: readonly unknown[], place: StagePlace): void {
  for (let i = 1; i < bounds.length; i++) {
    const types = [bounds[i - 1], bounds[i]].map((bound) => typeNames[typeOf(bound)])
    if (types[0] !== types[1]) {
      throw stageError('BadValue', place, `boundaries must be of the same type, got ${types.join(' and ')}`)
    }
    if (compareValues(bounds[i - 1], bounds[i]) >= 0)
      throw stageError('BadValue', place, 'boundaries must be in ascending order')
  }
  for (const value of otherwise) {
    if (compareValues(value, bounds[0]) < 0 || compareValues(value, bounds.at(-1)) >= 0) continue
    throw stageError('BadValue', place, 'the default must be outside the boundaries')
  }
}
