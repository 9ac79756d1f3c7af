/**
 * `$expMovingAvg`: an average in which earlier values count exponentially less. Computed with decimals, as in MongoDB;
 * the result is a double unless there was a Decimal128 among the values.
 */
import { Decimal128 } from 'bson'
import { add, decimalOf, multiply, negate, type PlainNumber } from '../../model/arithmetic.ts'
import { compareNumbers, toDouble, unwrapNumber } from '../../model/numbers.ts'
import { describeType } from '../../query/errors.ts'
import { stageError } from '../errors.ts'
import { quotient } from '../operators/arithmetic.ts'
import { fieldsOf, integerOf, isNumber } from '../operators/operator.ts'
import { requireSort } from './order.ts'
import type { FunctionContext, WindowFunction } from './window-function.ts'

const one = Decimal128.fromString('1')

export function compileMovingAverage(argument: unknown, context: FunctionContext): WindowFunction {
  requireSort(context)
  const { name, compiler } = context
  const fields = fieldsOf(argument, name, ['input'], ['N', 'alpha'])
  const weight = weightOf(fields, context)
  const rest = add(one, negate(weight))
  const input = compiler.compile(fields.input)
  return ({ documents }) => {
    let average: PlainNumber | undefined
    let isDecimal = false
    return {
      value(position) {
        const value = input(documents[position] ?? {})
        if (isNumber(value)) {
          const number = unwrapNumber(value)
          if (number instanceof Decimal128) isDecimal = true
          const decimal = asDecimal(number)
          average = average === undefined ? decimal : add(multiply(decimal, weight), multiply(average, rest))
        }
        if (average === undefined) return null
        return isDecimal ? average : toDouble(average)
      }
    }
  }
}

/** Returns the weight of the newest value. */
function weightOf(fields: Readonly<Record<string, unknown>>, { name, place }: FunctionContext): PlainNumber {
  const { N: count, alpha } = fields
  if (Object.hasOwn(fields, 'N') === Object.hasOwn(fields, 'alpha')) {
    throw stageError('FailedToParse', place, `${name} takes either N or alpha`)
  }
  if (Object.hasOwn(fields, 'N')) {
    return quotient(Decimal128.fromString('2'), Decimal128.fromString(String(integerOf(count, `${name}: N`, 1) + 1)))
  }
  if (isNumber(alpha) && compareNumbers(alpha, 0) > 0 && compareNumbers(alpha, 1) < 0) {
    return asDecimal(unwrapNumber(alpha))
  }
  const found = isNumber(alpha) ? String(alpha) : describeType(alpha)
  throw stageError('FailedToParse', place, `${name}: alpha must be a number between 0 and 1, not ${found}`)
}

function asDecimal(number: PlainNumber): PlainNumber {
  return decimalOf(number) === undefined
    ? Decimal128.fromString(String(number))
    : add(number, Decimal128.fromString('0'))
}
