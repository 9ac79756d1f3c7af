/**
 * Operators that replace mingo's, because they know our values: 64-bit integers, Decimal128, ObjectIds and the other classes of
 * bson, the order of MongoDB's types, and what is missing.
 */
import { ObjectId } from 'bson'
import { Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { accumulatorClass } from './accumulators.ts'
import { isObjectId, textOf, typeName } from './conversions.ts'
import type { EngineOptions, Evaluate, Operator } from './engine-types.ts'
import { addAll, multiplyAll, remainder, subtract } from './expression-arithmetic.ts'
import { dateOperators, toDate } from './expression-dates.ts'
import { roundTo } from './expression-rounding.ts'
import { inCase, indexOfCodePoints, substringOfBytes } from './expression-text.ts'
import { compareInExpression, isNil, isTruthy } from './expression-values.ts'
import { percentiles, ranksOf } from './percentiles.ts'

type Computed = (values: readonly unknown[]) => unknown

/** Replacements among expressions. @param given the engine's */
export function replacedExpressions(
  evaluate: Evaluate,
  given: Readonly<Record<string, Operator>>
): Record<string, Operator> {
  /** An operator over a list of evaluated arguments. */
  const over =
    (name: string, compute: Computed, length?: number): Operator =>
    (document, argument, options) =>
      compute(argumentsOf(name, evaluate(document, argument, options), length))
  const comparison = (name: string, test: (difference: number) => unknown): [string, Operator] => [
    name,
    over(name, ([a, b]) => test(compareInExpression(a, b)), 2)
  ]
  /** An operator over one argument, which may stand in an array. */
  const unary =
    (name: string, compute: (value: unknown) => unknown): Operator =>
    (document, argument, options) => {
      if (!Array.isArray(argument)) return compute(evaluate(document, argument, options))
      if (argument.length !== 1) throw new TypeError(`${name} takes one argument, got ${argument.length}`)
      return compute(evaluate(document, argument[0], options))
    }
  const truth = (document: unknown, argument: unknown, options: EngineOptions): boolean =>
    isTruthy(evaluate(document, argument, options))

  const percentile =
    (name: string, one: boolean): Operator =>
    (document, argument, options) => {
      const { input, p } = ranksOf(name, argument)
      const found = percentiles(
        listOf(evaluate(document, input, options)),
        one ? [0.5] : evaluate(document, p, options)
      )
      return one ? found[0] : found
    }
  const substring = over('$substrBytes', substringOfBytes, 3)

  return {
    ...dateOperators(given, evaluate),
    ...Object.fromEntries([
      comparison('$eq', (difference) => difference === 0),
      comparison('$ne', (difference) => difference !== 0),
      comparison('$lt', (difference) => difference < 0),
      comparison('$lte', (difference) => difference <= 0),
      comparison('$gt', (difference) => difference > 0),
      comparison('$gte', (difference) => difference >= 0),
      comparison('$cmp', Math.sign)
    ]),
    $in: over('$in', ([value, list]) => isIn(value, list), 2),
    $add: over('$add', addAll),
    $subtract: over('$subtract', ([a, b]) => subtract(a, b), 2),
    $multiply: over('$multiply', multiplyAll),
    $mod: over('$mod', ([a, b]) => remainder(a, b), 2),
    $round: over('$round', (values) => roundTo('$round', 'round', values)),
    $trunc: over('$trunc', (values) => roundTo('$trunc', 'truncate', values)),
    $percentile: percentile('$percentile', false),
    $median: percentile('$median', true),
    $toLower: unary('$toLower', (value) => inCase(value, (text) => text.toLowerCase())),
    $toUpper: unary('$toUpper', (value) => inCase(value, (text) => text.toUpperCase())),
    $substr: substring,
    $substrBytes: substring,
    $indexOfCP: over('$indexOfCP', indexOfCodePoints),
    $and: (document, argument, options) => listOf(argument).every((each) => truth(document, each, options)),
    $or: (document, argument, options) => listOf(argument).some((each) => truth(document, each, options)),
    $not: unary('$not', (value) => !isTruthy(value)),
    $cond: (document, argument, options) => {
      const [condition, then, otherwise] = branchesOf(argument)
      return evaluate(document, truth(document, condition, options) ? then : otherwise, options)
    },
    $type: unary('$type', typeName),
    $isNumber: unary('$isNumber', (value) => value !== undefined && typeOf(value) === Type.number),
    $toString: unary('$toString', textOf),
    $toObjectId: unary('$toObjectId', toObjectId),
    $toDate: unary('$toDate', toDate),
    $convert: convert(evaluate, given),
    $function: (document, argument, options) => callFunction(argument, (each) => evaluate(document, each, options))
  }
}

/** Replacements among accumulators, which windows and buckets use too. @param given the engine's */
export function replacedAccumulators(given: Readonly<Record<string, Operator>>): Record<string, Operator> {
  // It gives the values of an argument.
  const push = given.$push as Operator
  const ranked = (name: string, one: boolean): [string, Operator] => [
    name,
    (documents, argument, options) => {
      const { input, p } = ranksOf(name, argument)
      const found = percentiles(push(documents, input, options) as readonly unknown[], one ? [0.5] : p)
      return one ? found[0] : found
    }
  ]
  // The engine gives a list of one.
  const only = (name: string): [string, Operator] => [
    name,
    (documents, argument, options) => {
      const found = (given[name] as Operator)(documents, argument, options)
      return Array.isArray(found) ? (found[0] ?? null) : found
    }
  ]
  const names = ['$sum', '$avg', '$min', '$max', '$addToSet'] as const
  return Object.fromEntries([
    only('$top'),
    only('$bottom'),
    ranked('$percentile', false),
    ranked('$median', true),
    ...names.map((name): [string, Operator] => [
      name,
      (documents, argument, options) => {
        const Class = accumulatorClass(name)
        if (Class === undefined) throw new TypeError(`${name} is no accumulator`)
        const accumulator = new Class()
        for (const value of push(documents, argument, options) as readonly unknown[]) accumulator.add(value)
        return accumulator.result()
      }
    ])
  ])
}

/** Types by name and by number, and what converts to them; the rest is left to the engine. */
function convert(evaluate: Evaluate, given: Readonly<Record<string, Operator>>): Operator {
  const conversions = new Map<unknown, (value: unknown) => unknown>([
    ['string', textOf],
    [2, textOf],
    ['objectId', toObjectId],
    [7, toObjectId],
    ['date', toDate],
    [9, toDate]
  ])
  return (document, argument, options) => {
    const { input, to, onError, onNull } = argument as Readonly<Record<string, unknown>>
    const value = evaluate(document, input, options)
    const conversion = conversions.get(evaluate(document, to, options))
    if (conversion === undefined) return (given.$convert as Operator)(document, argument, options)
    if (isNil(value)) return evaluate(document, onNull, options) ?? null
    try {
      return conversion(value)
    } catch (error) {
      if (onError === undefined) throw error
      return evaluate(document, onError, options)
    }
  }
}

function argumentsOf(name: string, evaluated: unknown, length: number | undefined): readonly unknown[] {
  const values = listOf(evaluated)
  if (length === undefined || values.length === length) return values
  throw new TypeError(`${name} takes ${length} arguments, got ${values.length}`)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function isIn(value: unknown, list: unknown): boolean {
  if (!Array.isArray(list)) throw new TypeError(`$in takes an array as its second argument, got ${describeType(list)}`)
  return list.some((element) => compareInExpression(element, value) === 0)
}

function branchesOf(argument: unknown): readonly unknown[] {
  if (Array.isArray(argument)) {
    if (argument.length === 3) return argument
  } else if (typeOf(argument) === Type.object) {
    const { if: condition, then, else: otherwise } = argument as Record<string, unknown>
    return [condition, then, otherwise]
  }
  throw new TypeError('$cond takes [if, then, else]')
}

function toObjectId(value: unknown): unknown {
  if (isNil(value)) return null
  if (isObjectId(value)) return value
  if (typeof value === 'string' && ObjectId.isValid(value) && value.length === 24) return new ObjectId(value)
  throw new TypeError(`$toObjectId takes 24 hexadecimal digits, got ${describeType(value)}`)
}

function callFunction(argument: unknown, evaluate: (each: unknown) => unknown): unknown {
  const { body, args } = argument as { readonly body: (...values: unknown[]) => unknown; readonly args?: unknown }
  return body(...listOf(evaluate(args ?? [])))
}
