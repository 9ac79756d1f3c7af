/** The input of keyword parsers, and checks that several of them share. */
import { type Document, isPlainObject, Type, typeOf } from '../../model/types.ts'
import { describeType, type FilterPlace, filterError } from '../errors.ts'
import { parseSize } from '../parse-arguments.ts'
import { type CountedType, impossible, type Schema } from './schema.ts'

export interface Argument {
  readonly value: unknown
  /** The keyword's place: its path leads through the schema. */
  readonly place: FilterPlace
  /** The schema that contains the keyword. */
  readonly siblings: Document
  /** Parses nested schemas. */
  readonly parse: (schema: unknown, place: FilterPlace) => Schema
}

/** Returns an empty schema for a keyword without effect. */
export type KeywordParser = (argument: Argument) => Schema

/** By keyword. */
export type KeywordParsers = readonly (readonly [keyword: string, parser: KeywordParser])[]

/** A place further down in a schema. */
export function within({ path, operator }: FilterPlace, key: string): FilterPlace {
  return { path: path === '' ? key : `${path}.${key}`, operator }
}

/** Parses a schema or a boolean, which passes everything or nothing. */
export function parseSchemaOrBoolean({ value, place, parse }: Argument): Schema {
  if (value === true) return []
  if (value === false) return impossible
  if (isPlainObject(value)) return parse(value, place)
  throw filterError('TypeMismatch', place, `needs a schema or a boolean, not ${describeType(value)}`)
}

/** Returns the parsers of a lower and an upper bound of a count. */
export function countParsers(type: CountedType): { readonly least: KeywordParser; readonly most: KeywordParser } {
  return {
    least: (argument) => [{ kind: 'count', type, least: countOf(argument), most: Number.POSITIVE_INFINITY }],
    most: (argument) => [{ kind: 'count', type, least: 0, most: countOf(argument) }]
  }
}

function countOf({ value, place }: Argument): number {
  return parseSize(value, place, Number.MAX_SAFE_INTEGER)
}

export function arrayOf({ value, place }: Argument): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw filterError('TypeMismatch', place, `needs an array, not ${describeType(value)}`)
}

export function objectOf({ value, place }: Argument): Document {
  if (isPlainObject(value)) return value
  throw filterError('TypeMismatch', place, `needs an object, not ${describeType(value)}`)
}

export function booleanOf({ value, place }: Argument): boolean {
  if (typeof value === 'boolean') return value
  throw filterError('TypeMismatch', place, `needs a boolean, not ${describeType(value)}`)
}

/** Strings without duplicates. */
export function namesOf(argument: Argument, values: readonly unknown[]): readonly string[] {
  const names = new Set<string>()
  for (const value of values) {
    const name = stringOf({ ...argument, value })
    if (names.has(name)) throw filterError('FailedToParse', argument.place, `contains '${name}' twice`)
    names.add(name)
  }
  return [...names]
}

export function stringOf({ value, place }: Argument): string {
  if (typeOf(value) === Type.string) return String(value)
  throw filterError('TypeMismatch', place, `needs a string, not ${describeType(value)}`)
}
