/** Keywords for numbers and strings. */
import { decimalOf } from '../../model/arithmetic.ts'
import { compareNumbers, unwrapNumber } from '../../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../../model/types.ts'
import { leaf } from '../ast.ts'
import { rangeTest } from '../comparisons.ts'
import { describeType, filterError } from '../errors.ts'
import { createPattern } from '../pattern.ts'
import {
  type Argument,
  booleanOf,
  countParsers,
  type KeywordParser,
  type KeywordParsers,
  stringOf
} from './argument.ts'
import type { Schema } from './schema.ts'

const lengths = countParsers(Type.string)

export const valueKeywords: KeywordParsers = [
  ['minimum', (argument) => parseLimit(argument, isExclusive(argument, 'exclusiveMinimum') ? '$gt' : '$gte')],
  ['maximum', (argument) => parseLimit(argument, isExclusive(argument, 'exclusiveMaximum') ? '$lt' : '$lte')],
  ['exclusiveMinimum', modifierOf('minimum')],
  ['exclusiveMaximum', modifierOf('maximum')],
  ['multipleOf', parseMultipleOf],
  ['minLength', lengths.least],
  ['maxLength', lengths.most],
  ['pattern', parsePattern]
]

function parseLimit(argument: Argument, operator: '$lt' | '$lte' | '$gt' | '$gte'): Schema {
  return [{ kind: 'test', type: Type.number, test: rangeTest(operator, numberOf(argument)) }]
}

/** As in draft 4, a boolean sibling of the limit. */
function isExclusive({ siblings }: Argument, keyword: string): boolean {
  return siblings[keyword] === true
}

function modifierOf(limit: string): KeywordParser {
  return (argument) => {
    if (!Object.hasOwn(argument.siblings, limit)) {
      throw filterError('FailedToParse', argument.place, `needs '${limit}'`)
    }
    booleanOf(argument)
    return []
  }
}

function parseMultipleOf(argument: Argument): Schema {
  const value = numberOf(argument)
  const divisor = decimalOf(unwrapNumber(value))
  if (compareNumbers(value, 0) <= 0 && compareNumbers(value, Number.NaN) !== 0) {
    throw filterError('FailedToParse', argument.place, 'needs a number greater than 0')
  }
  if (divisor === undefined) throw filterError('BadValue', argument.place, 'needs a finite number')
  return [{ kind: 'multipleOf', divisor }]
}

function parsePattern(argument: Argument): Schema {
  const pattern = createPattern(stringOf(argument), '', argument.place)
  return [{ kind: 'test', type: Type.string, test: leaf({ kind: 'regex', pattern }) }]
}

function numberOf({ value, place }: Argument): Numeric {
  if (typeOf(value) === Type.number) return value as Numeric
  throw filterError('TypeMismatch', place, `needs a number, not ${describeType(value)}`)
}
