/** Keywords for arrays. */
import { isPlainObject, Type } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import {
  type Argument,
  booleanOf,
  countParsers,
  type KeywordParsers,
  parseSchemaOrBoolean,
  within
} from './argument.ts'
import type { Schema } from './schema.ts'

const lengths = countParsers(Type.array)

export const arrayKeywords: KeywordParsers = [
  ['minItems', lengths.least],
  ['maxItems', lengths.most],
  ['uniqueItems', (argument) => (booleanOf(argument) ? [{ kind: 'uniqueItems' }] : [])],
  ['items', parseItems],
  ['additionalItems', parseAdditionalItems]
]

/** Parses a schema for every element, or a list of schemas for the first ones. */
function parseItems({ value, place, parse }: Argument): Schema {
  if (Array.isArray(value)) {
    return [{ kind: 'firstItems', schemas: value.map((schema, i) => parse(schema, within(place, String(i)))) }]
  }
  if (isPlainObject(value)) return [{ kind: 'itemsFrom', start: 0, schema: parse(value, place) }]
  throw filterError('TypeMismatch', place, `needs a schema or an array of schemas, not ${describeType(value)}`)
}

/** Has no effect unless `items` is a list. */
function parseAdditionalItems(argument: Argument): Schema {
  const schema = parseSchemaOrBoolean(argument)
  const { items } = argument.siblings
  return Array.isArray(items) ? [{ kind: 'itemsFrom', start: items.length, schema }] : []
}
