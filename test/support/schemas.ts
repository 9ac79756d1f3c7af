/** Random schemas for `$jsonSchema`, and a second implementation of their meaning, written from the draft. */
import { Decimal128, Long } from 'bson'
import fc from 'fast-check'
import { compareValues } from '../../src/model/compare.ts'
import { type Document, isPlainObject, Type, typeOf } from '../../src/model/types.ts'

export type SchemaObject = Record<string, unknown>

interface Parts {
  readonly keys: fc.Arbitrary<string>
  /** For `enum`. */
  readonly literals: fc.Arbitrary<unknown>
}

const jsonTypes = ['object', 'array', 'number', 'boolean', 'string', 'null']
const bsonTypes = ['object', 'array', 'number', 'bool', 'string', 'null', 'int', 'long', 'double', 'decimal', 'date']
const patterns = fc.constantFrom('x', '^x', '(?i)Y', '.', 'xy?$')
const keyPatterns = fc.constantFrom('^a', 'b|c', '.', '\\.', '^$', '0')
const limits = fc.constantFrom<unknown>(0, 1, 1.5, -1, 2n, Long.fromNumber(2), Decimal128.fromString('1.0'), Number.NaN)
const divisors = fc.constantFrom<unknown>(1, 2, 0.5, 0.1, 3n, Decimal128.fromString('0.5'))

/** Schemas nested up to `depth` levels. */
export function schemas(parts: Parts, depth: number): fc.Arbitrary<SchemaObject> {
  const keywords = fc
    .array(fragments(parts, depth), { maxLength: 3 })
    .map((list) => consistent(Object.assign({}, ...list) as SchemaObject))
  if (depth === 0) return keywords
  return fc.oneof({ weight: 3, arbitrary: keywords }, { weight: 2, arbitrary: shapes(parts, depth) })
}

/** An object with these properties, most of them required: schemas that an index can help with. */
function shapes(parts: Parts, depth: number): fc.Arbitrary<SchemaObject> {
  const types = fc.constantFrom<unknown>('object', 'object', ['object', 'null'], ['array', 'object'])
  const properties = fc.uniqueArray(fc.tuple(parts.keys, schemas(parts, depth - 1), fc.nat(3)), {
    minLength: 1,
    maxLength: 2,
    selector: ([key]) => key
  })
  return fc.tuple(properties, types).map(([list, type]) => {
    const required = list.filter(([, , luck]) => luck > 0).map(([key]) => key)
    const shape: SchemaObject = { type, properties: Object.fromEntries(list) }
    return required.length > 0 ? { ...shape, required } : shape
  })
}

/** Drops a keyword that must not occur together with another one. */
function consistent(schema: SchemaObject): SchemaObject {
  if ('bsonType' in schema) delete schema.type
  return schema
}

function fragments(parts: Parts, depth: number): fc.Arbitrary<SchemaObject> {
  const { keys, literals } = parts
  const count = fc.nat(3)
  const names = fc.uniqueArray(keys, { minLength: 1, maxLength: 2 })
  const typesOf = (all: readonly string[]): fc.Arbitrary<unknown> =>
    fc.oneof(fc.constantFrom(...all), fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 3 }))
  const simple: fc.Arbitrary<SchemaObject>[] = [
    typesOf(jsonTypes).map((type) => ({ type })),
    typesOf(bsonTypes).map((bsonType) => ({ bsonType })),
    fc.uniqueArray(literals, { minLength: 1, maxLength: 4, comparator: isSame }).map((list) => ({ enum: list })),
    limits.map((minimum) => ({ type: 'number', minimum })),
    fc.tuple(limits, fc.boolean()).map(([minimum, exclusiveMinimum]) => ({ minimum, exclusiveMinimum })),
    fc.tuple(limits, fc.boolean()).map(([maximum, exclusiveMaximum]) => ({ maximum, exclusiveMaximum })),
    divisors.map((multipleOf) => ({ multipleOf })),
    count.map((minLength) => ({ minLength })),
    count.map((maxLength) => ({ maxLength })),
    patterns.map((pattern) => ({ type: ['string', 'null'], pattern })),
    patterns.map((pattern) => ({ pattern })),
    count.map((minItems) => ({ minItems })),
    count.map((maxItems) => ({ type: 'array', maxItems })),
    fc.boolean().map((uniqueItems) => ({ uniqueItems })),
    names.map((required) => ({ required })),
    count.map((minProperties) => ({ minProperties })),
    count.map((maxProperties) => ({ maxProperties })),
    fc.tuple(keys, names).map(([key, list]) => ({ dependencies: { [key]: list } }))
  ]
  if (depth === 0) return fc.oneof(...simple)
  const inside = schemas(parts, depth - 1)
  const several = fc.array(inside, { minLength: 1, maxLength: 2 })
  const rest = fc.oneof(fc.boolean(), inside)
  return fc.oneof(
    ...simple,
    inside.map((items) => ({ items })),
    fc.tuple(fc.array(inside, { maxLength: 2 }), rest).map(([items, additionalItems]) => ({ items, additionalItems })),
    fc.dictionary(keys, inside, { maxKeys: 2, noNullPrototype: true }).map((properties) => ({ properties })),
    fc
      .dictionary(keyPatterns, inside, { maxKeys: 2, noNullPrototype: true })
      .map((patternProperties) => ({ patternProperties })),
    rest.map((additionalProperties) => ({ additionalProperties })),
    fc.tuple(keys, inside).map(([key, schema]) => ({ dependencies: { [key]: schema } })),
    several.map((allOf) => ({ allOf })),
    several.map((anyOf) => ({ anyOf })),
    several.map((oneOf) => ({ oneOf })),
    inside.map((not) => ({ not }))
  )
}

/** Whether an existing value is valid, keyword by keyword. */
export function isValid(schema: SchemaObject, value: unknown): boolean {
  return Object.keys(schema).every((keyword) => passes(keyword, schema, value))
}

function passes(keyword: string, schema: SchemaObject, value: unknown): boolean {
  const argument = schema[keyword]
  const list = argument as readonly SchemaObject[]
  switch (keyword) {
    case 'type':
    case 'bsonType':
      return [argument].flat().some((name) => namesOf(value).includes(name === 'boolean' ? 'bool' : String(name)))
    case 'enum':
      return (argument as readonly unknown[]).some((member) => isSame(member, value))
    case 'allOf':
      return list.every((inside) => isValid(inside, value))
    case 'anyOf':
      return list.some((inside) => isValid(inside, value))
    case 'oneOf':
      return list.filter((inside) => isValid(inside, value)).length === 1
    case 'not':
      return !isValid(argument as SchemaObject, value)
  }
  switch (typeOf(value)) {
    case Type.number:
      return passesAsNumber(keyword, schema, value)
    case Type.string:
      return passesAsString(keyword, argument, String(value))
    case Type.array:
      return passesAsArray(keyword, schema, value as readonly unknown[])
    case Type.object:
      return passesAsObject(keyword, schema, value as Document)
    default:
      return true
  }
}

function passesAsNumber(keyword: string, schema: SchemaObject, value: unknown): boolean {
  const limit = schema[keyword]
  const order = compareValues(value, limit)
  const isComparable = isNaNumber(value) === isNaNumber(limit)
  switch (keyword) {
    case 'minimum':
      return isComparable && (schema.exclusiveMinimum === true ? order > 0 : order >= 0)
    case 'maximum':
      return isComparable && (schema.exclusiveMaximum === true ? order < 0 : order <= 0)
    case 'multipleOf': {
      const scaled = thousandths(value)
      return scaled !== undefined && scaled % (thousandths(limit) ?? 1n) === 0n
    }
    default:
      return true
  }
}

function isNaNumber(value: unknown): boolean {
  return String(value) === 'NaN'
}

/** 1000 times the number, an integer for all numbers used here; beyond 2^53, only 15 digits of a double count. */
function thousandths(value: unknown): bigint | undefined {
  const isRounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
  const text = isRounded && Number.isFinite(value) ? String(BigInt(Number(value.toPrecision(15)))) : String(value)
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,3}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(`${sign}${whole}${fraction.padEnd(3, '0')}`)
}

function passesAsString(keyword: string, argument: unknown, value: string): boolean {
  switch (keyword) {
    case 'minLength':
      return [...value].length >= Number(argument)
    case 'maxLength':
      return [...value].length <= Number(argument)
    case 'pattern':
      return argument === '(?i)Y' ? /y/i.test(value) : new RegExp(String(argument)).test(value)
    default:
      return true
  }
}

function passesAsArray(keyword: string, schema: SchemaObject, value: readonly unknown[]): boolean {
  const argument = schema[keyword]
  switch (keyword) {
    case 'minItems':
      return value.length >= Number(argument)
    case 'maxItems':
      return value.length <= Number(argument)
    case 'uniqueItems':
      return argument === false || value.every((a, i) => value.every((b, j) => i === j || !isSame(a, b)))
    case 'items':
      return value.every((element, i) => {
        const inside = Array.isArray(argument) ? (argument[i] as SchemaObject | undefined) : (argument as SchemaObject)
        return inside === undefined || isValid(inside, element)
      })
    case 'additionalItems':
      return !Array.isArray(schema.items) || value.slice(schema.items.length).every((item) => isAllowed(argument, item))
    default:
      return true
  }
}

function passesAsObject(keyword: string, schema: SchemaObject, value: Document): boolean {
  const argument = schema[keyword]
  const entries = Object.entries((argument ?? {}) as Document)
  const has = (name: unknown): boolean => Object.hasOwn(value, String(name))
  switch (keyword) {
    case 'minProperties':
      return Object.keys(value).length >= Number(argument)
    case 'maxProperties':
      return Object.keys(value).length <= Number(argument)
    case 'required':
      return (argument as readonly unknown[]).every(has)
    case 'properties':
      return entries.every(([name, inside]) => !has(name) || isAllowed(inside, value[name]))
    case 'patternProperties':
      return entries.every(([pattern, inside]) =>
        Object.keys(value).every((name) => !new RegExp(pattern).test(name) || isAllowed(inside, value[name]))
      )
    case 'additionalProperties': {
      const names = Object.keys((schema.properties ?? {}) as Document)
      const patterns = Object.keys((schema.patternProperties ?? {}) as Document)
      const isOther = (name: string): boolean =>
        !names.includes(name) && !patterns.some((pattern) => new RegExp(pattern).test(name))
      return Object.keys(value).every((name) => !isOther(name) || isAllowed(argument, value[name]))
    }
    case 'dependencies':
      return entries.every(
        ([name, needed]) => !has(name) || (Array.isArray(needed) ? needed.every(has) : isAllowed(needed, value))
      )
    default:
      return true
  }
}

function isAllowed(rest: unknown, value: unknown): boolean {
  return typeof rest === 'boolean' ? rest : isValid(rest as SchemaObject, value)
}

function namesOf(value: unknown): readonly string[] {
  if (value === null) return ['null']
  const tag = (value as { readonly _bsontype?: unknown })._bsontype
  if (typeof value === 'bigint' || tag === 'Long') return ['number', 'long']
  if (tag === 'Decimal128') return ['number', 'decimal']
  if (typeof value === 'number') {
    const isInt = Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0)
    return ['number', isInt ? 'int' : 'double']
  }
  if (typeof value === 'string') return ['string']
  if (typeof value === 'boolean') return ['bool']
  if (Array.isArray(value)) return ['array']
  if (value instanceof Date) return ['date']
  return isPlainObject(value) ? ['object'] : []
}

/** Equality regardless of the order of fields. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  if (!isPlainObject(a) || !isPlainObject(b)) return compareValues(a, b) === 0
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
}
