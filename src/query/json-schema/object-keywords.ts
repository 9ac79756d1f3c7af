/** Keywords for objects. A name is a single own key; dots and digits have no special meaning. */
import { type Document, isPlainObject, Type } from '../../model/types.ts'
import { type FilterPlace, filterError } from '../errors.ts'
import { createPattern } from '../pattern.ts'
import {
  type Argument,
  arrayOf,
  countParsers,
  type KeywordParsers,
  namesOf,
  objectOf,
  parseSchemaOrBoolean,
  within
} from './argument.ts'
import type { Keyword, Schema } from './schema.ts'

const counts = countParsers(Type.object)

export const objectKeywords: KeywordParsers = [
  ['required', (argument) => [{ kind: 'required', names: parseNames(argument) }]],
  ['properties', parseProperties],
  ['patternProperties', parsePatternProperties],
  ['additionalProperties', parseAdditionalProperties],
  ['minProperties', counts.least],
  ['maxProperties', counts.most],
  ['dependencies', parseDependencies]
]

/** Parses a list of distinct names. */
function parseNames(argument: Argument): readonly string[] {
  const { place } = argument
  const names = namesOf(argument, arrayOf(argument))
  if (names.length === 0) throw filterError('FailedToParse', place, 'needs a non-empty array')
  if (names.includes('__proto__')) throw filterError('BadValue', place, "the key '__proto__' is not allowed")
  return names
}

function parseProperties(argument: Argument): Schema {
  const schemas = entriesOf(argument).map(({ key, value, place }) => [key, argument.parse(value, place)] as const)
  return [{ kind: 'properties', schemas: new Map(schemas) }]
}

function parsePatternProperties(argument: Argument): Schema {
  return entriesOf(argument).map(({ key, value, place }): Keyword => {
    return { kind: 'patternProperties', pattern: createPattern(key, '', place), schema: argument.parse(value, place) }
  })
}

function parseAdditionalProperties(argument: Argument): Schema {
  const { siblings, place } = argument
  const names = new Set(keysOf(siblings.properties))
  const patterns = keysOf(siblings.patternProperties).map((source) => createPattern(source, '', place))
  return [{ kind: 'otherProperties', names, patterns, schema: parseSchemaOrBoolean(argument) }]
}

/** Their values are checked by the parser of their own keyword. */
function keysOf(properties: unknown): readonly string[] {
  return isPlainObject(properties) ? Object.keys(properties) : []
}

/** For objects with the property: additional required names, or a schema. */
function parseDependencies(argument: Argument): Schema {
  return entriesOf(argument).map(({ key, value, place }): Keyword => {
    const schema: Schema = Array.isArray(value)
      ? [{ kind: 'required', names: parseNames({ ...argument, value, place }) }]
      : argument.parse(value, place)
    return { kind: 'dependency', name: key, schema }
  })
}

function entriesOf(argument: Argument): readonly { key: string; value: unknown; place: FilterPlace }[] {
  const object: Document = objectOf(argument)
  return Object.keys(object).map((key) => ({ key, value: object[key], place: within(argument.place, key) }))
}
