/**
 * Parses the argument of `$jsonSchema`: JSON Schema draft 4 in MongoDB's variant, with `bsonType` and without
 * references.
 *
 * REQUIRES: the argument went through sanitize.ts.
 */
import { isPlainObject } from '../../model/types.ts'
import { describeType, type FilterPlace, filterError } from '../errors.ts'
import { parseTypes } from '../parse-arguments.ts'
import { ValueSet } from '../value-set.ts'
import { type Argument, arrayOf, type KeywordParser, namesOf, stringOf, within } from './argument.ts'
import { arrayKeywords } from './array-keywords.ts'
import { objectKeywords } from './object-keywords.ts'
import type { Schema } from './schema.ts'
import { unordered } from './unordered.ts'
import { valueKeywords } from './value-keywords.ts'

/** Parts of the draft that MongoDB rejects by name. */
const unsupported = new Set(['$ref', '$schema', 'default', 'definitions', 'format', 'id'])

/** Type names of `type`, and their equivalents for `bsonType`. */
const jsonTypes: ReadonlyMap<string, string> = new Map([
  ['object', 'object'],
  ['array', 'array'],
  ['number', 'number'],
  ['boolean', 'bool'],
  ['string', 'string'],
  ['null', 'null']
])

const keywords: ReadonlyMap<string, KeywordParser> = new Map<string, KeywordParser>([
  ['title', parseText],
  ['description', parseText],
  ['type', parseJsonType],
  ['bsonType', parseBsonType],
  ['enum', parseEnum],
  ['allOf', (argument) => parseList(argument).flat()],
  ['anyOf', (argument) => [{ kind: 'anyOf', schemas: parseList(argument) }]],
  ['oneOf', (argument) => [{ kind: 'oneOf', schemas: parseList(argument) }]],
  ['not', ({ value, place, parse }) => [{ kind: 'not', schema: parse(value, place) }]],
  ...valueKeywords,
  ...arrayKeywords,
  ...objectKeywords
])

/** @throws PetalError TypeMismatch, FailedToParse, BadValue; the error's path leads through the schema */
export function parseSchema(schema: unknown, place: FilterPlace): Schema {
  if (!isPlainObject(schema)) {
    throw filterError('TypeMismatch', place, `needs a schema object, not ${describeType(schema)}`)
  }
  return Object.keys(schema).flatMap((keyword) => {
    const parser = keywords.get(keyword)
    if (parser !== undefined) {
      return parser({ value: schema[keyword], place: within(place, keyword), siblings: schema, parse: parseSchema })
    }
    const problem = unsupported.has(keyword) ? 'is not supported' : 'is unknown'
    throw filterError('FailedToParse', place, `the keyword '${keyword}' ${problem}`)
  })
}

/** Text for human readers, without effect. */
function parseText(argument: Argument): Schema {
  stringOf(argument)
  return []
}

function parseJsonType(argument: Argument): Schema {
  const { place, siblings } = argument
  if (Object.hasOwn(siblings, 'bsonType')) {
    throw filterError('FailedToParse', place, "'type' and 'bsonType' cannot be combined")
  }
  const names = typeNamesOf(argument).map((name) => {
    const found = jsonTypes.get(name)
    if (found === undefined) throw filterError('BadValue', place, `unknown type name '${name}'`)
    return found
  })
  return [{ kind: 'type', types: parseTypes(names, place) }]
}

function parseBsonType(argument: Argument): Schema {
  return [{ kind: 'type', types: parseTypes(typeNamesOf(argument), argument.place) }]
}

/** One name, or a list of distinct ones. */
function typeNamesOf(argument: Argument): readonly string[] {
  const { value, place } = argument
  const names = namesOf(argument, Array.isArray(value) ? value : [value])
  if (names.includes('integer')) {
    throw filterError('FailedToParse', place, "the type 'integer' is not supported; bsonType has 'int' and 'long'")
  }
  return names
}

function parseEnum(argument: Argument): Schema {
  const values = arrayOf(argument).map(unordered)
  if (values.length === 0) throw filterError('FailedToParse', argument.place, 'needs a non-empty array')
  const seen = new ValueSet()
  if (!values.every((value) => seen.add(value))) {
    throw filterError('FailedToParse', argument.place, 'contains a value twice')
  }
  return [{ kind: 'enum', values }]
}

function parseList(argument: Argument): readonly Schema[] {
  const list = arrayOf(argument)
  if (list.length === 0) throw filterError('BadValue', argument.place, 'needs a non-empty array')
  return list.map((schema, i) => argument.parse(schema, within(argument.place, String(i))))
}
