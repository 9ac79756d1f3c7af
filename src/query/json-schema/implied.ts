/**
 * Derives conditions of the query language that every document passing a schema satisfies, for use by the index, the
 * ids and the record prefilters.
 *
 * Invariants:
 * 1. Each condition states something about one whole value that is reached from the document by own keys. "Some value
 *    on the path" is then true whatever arrays there are. Nothing is stated about elements of arrays: a path enters
 *    arrays directly in arrays by position only.
 * 2. A property that may be missing implies nothing, and neither does a name with a dot: it is one key in a schema, but
 *    several components in the path of a declared index.
 * 3. Nothing is negated.
 */
import { toScalar } from '../../model/scalar.ts'
import { Type, type TypeCode, typeOf } from '../../model/types.ts'
import { allOf, atPath, type Filter, leaf, type Predicate, type TypeTest } from '../ast.ts'
import type { Keyword, Schema } from './schema.ts'

/** What is known about the value that a schema applies to. */
interface Known {
  /** Its possible types; undefined for any. */
  readonly types: ReadonlySet<TypeCode> | undefined
  /** Fields that it has if it is an object. */
  readonly names: ReadonlySet<string>
}

const nothing: Known = { types: undefined, names: new Set() }
const document: Known = { types: new Set([Type.object]), names: new Set() }

/**
 * @example
 * // of { required: ['a'], properties: { a: { type: 'number', minimum: 5 }, b: { type: 'string' } } }
 * // { a: { $exists: true, $type: 'number', $gte: 5 } }
 */
export function impliedBy(schema: Schema): readonly Filter[] {
  return implications(schema, [], document)
}

/** @param path keys from the document to the value; empty for the document itself */
function implications(schema: Schema, path: readonly string[], outside: Known): readonly Filter[] {
  const known = schema.reduce(learn, outside)
  return schema.flatMap((keyword) => implicationsOf(keyword, path, known))
}

function learn(known: Known, keyword: Keyword): Known {
  switch (keyword.kind) {
    case 'type': {
      const types = keyword.types.map(codeOf).filter((type) => known.types?.has(type) ?? true)
      return { ...known, types: new Set(types) }
    }
    case 'required':
      return { ...known, names: new Set([...known.names, ...keyword.names]) }
    default:
      return known
  }
}

function implicationsOf(keyword: Keyword, path: readonly string[], known: Known): readonly Filter[] {
  switch (keyword.kind) {
    case 'type':
      if (path.length > 0) return [at(path, { kind: 'type', types: keyword.types })]
      return keyword.types.map(codeOf).includes(Type.object) ? [] : [{ kind: 'never' }]
    case 'enum':
      if (path.length > 0) return [oneOf(keyword.values, path)]
      return keyword.values.some((value) => typeOf(value) === Type.object) ? [] : [{ kind: 'never' }]
    case 'anyOf':
    case 'oneOf': {
      const alternatives = keyword.schemas.map((schema) => implications(schema, path, known))
      if (alternatives.some(({ length }) => length === 0)) return []
      return [{ kind: 'or', children: alternatives.map(allOf) }]
    }
    case 'test':
      return ofType(keyword.type, atPath(queryPath(path), keyword.test), path, known)
    case 'required':
      return isObject(known)
        ? keyword.names.filter(isPathKey).map((name) => at([...path, name], { kind: 'exists' }))
        : []
    case 'properties':
      if (!isObject(known)) return []
      return [...keyword.schemas].flatMap(([name, schema]) =>
        known.names.has(name) && isPathKey(name) ? implications(schema, [...path, name], nothing) : []
      )
    default:
      return []
  }
}

/** Excludes objects and arrays, whose fields may be in another order, and null, which would include missing. */
function oneOf(values: readonly unknown[], path: readonly string[]): Filter {
  const scalars = values.filter(isNonNullScalar)
  const types = [...new Set(values.filter((value) => !isNonNullScalar(value)).map(typeOf))]
  return {
    kind: 'or',
    children: [
      ...(scalars.length > 0 ? [at(path, { kind: 'in', values: scalars, patterns: [] })] : []),
      ...(types.length > 0 ? [hasType(types, path)] : [])
    ]
  }
}

function isNonNullScalar(value: unknown): boolean {
  return value !== null && toScalar(value) !== undefined
}

/** Returns a condition on values of a type, if the other possible types of the value are known. */
function ofType(type: TypeCode, condition: Filter, path: readonly string[], { types }: Known): readonly Filter[] {
  if (types === undefined || !types.has(type)) return []
  const others = [...types].filter((other) => other !== type)
  return [others.length === 0 ? condition : { kind: 'or', children: [condition, hasType(others, path)] }]
}

function isObject({ types }: Known): boolean {
  return types?.size === 1 && types.has(Type.object)
}

function isPathKey(name: string): boolean {
  return !name.includes('.')
}

function hasType(types: readonly TypeCode[], path: readonly string[]): Filter {
  return at(path, { kind: 'type', types: types.map((code): TypeTest => ({ kind: 'code', code })) })
}

function at(path: readonly string[], predicate: Predicate): Filter {
  return leaf({ kind: 'field', path: queryPath(path), predicate })
}

function queryPath(components: readonly string[]): { readonly text: string; readonly components: readonly string[] } {
  return { text: components.join('.'), components }
}

function codeOf(test: TypeTest): TypeCode {
  switch (test.kind) {
    case 'code':
      return test.code
    case 'numeric':
      return Type.number
    case 'javascript':
      return Type.javascript
  }
}
