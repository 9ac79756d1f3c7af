/**
 * Documents and filters for random tests, in two profiles. `adversarial` draws from everything that breaks naive
 * engines: arrays in arrays, nulls, digit keys, keys with dots, the empty key, names of inherited properties, NaN, −0,
 * integers beyond 2^53, equal numbers of different kinds. `plain` looks like common JSON, for comparison with libraries
 * that support only JSON.
 *
 * The alphabets are small on purpose: a filter that never matches tests nothing.
 */
import { Binary, BSONRegExp, Code, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson'
import fc from 'fast-check'
import type { Document } from '../../src/model/types.ts'
import { schemas } from './schemas.ts'

export type FilterObject = Record<string, unknown>

export interface Profile {
  readonly scalars: fc.Arbitrary<unknown>
  readonly keys: fc.Arbitrary<string>
  readonly paths: fc.Arbitrary<string>
  /** Arguments of `$type`. */
  readonly types: fc.Arbitrary<unknown>
  readonly patterns: fc.Arbitrary<RegExp | BSONRegExp>
  readonly withArraysInArrays: boolean
  /** Whether filters use `$jsonSchema`, which other libraries lack. */
  readonly withSchemas: boolean
}

const date = new Date('2024-05-01T00:00:00Z')
const objectId = new ObjectId('65a1b2c3d4e5f60718293a4b')

export const adversarial: Profile = {
  scalars: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<unknown>(null, 0, 1, 2, 'x', 'y', true) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<unknown>(
        Number.NaN,
        -0,
        -1,
        1.5,
        2 ** 53,
        2n ** 53n + 1n,
        Long.fromBigInt(2n ** 53n + 1n),
        1n,
        Long.fromNumber(2),
        Decimal128.fromString('1.0'),
        Decimal128.fromString('0.1'),
        0.1,
        Decimal128.fromString('9007199254740993'),
        Decimal128.fromString('NaN'),
        Number.POSITIVE_INFINITY,
        false,
        '',
        '0',
        'xy',
        '\u{1f600}',
        '\uffee'
      )
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        date,
        objectId,
        /x/,
        new BSONRegExp('x', 'i'),
        new MinKey(),
        new MaxKey(),
        new Binary(new Uint8Array([5])),
        new Uint8Array([5]),
        new Binary(new Uint8Array([5]), 4),
        new Timestamp({ t: 1, i: 2 }),
        new Code('f()'),
        new Code('f()', { n: 1 }),
        new Code('f()', { n: 2 })
      )
    }
  ),
  keys: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c') },
    { weight: 1, arbitrary: fc.constantFrom('0', '1', 'a.b', 'a.0', '', 'constructor', 'length', '$x') }
  ),
  paths: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'a.b', 'a.b.c', 'b.a') },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        'a.0',
        'a.0.b',
        'a.b.0',
        'a.0.0',
        'a.1',
        '0',
        '0.a',
        '1.0',
        'a.',
        '',
        '.a',
        'a..b',
        'a.00',
        'constructor',
        'a.length',
        'toString',
        'a.$x'
      )
    }
  ),
  types: fc.constantFrom<unknown>(
    'number',
    'string',
    'object',
    'array',
    'null',
    'bool',
    'int',
    'long',
    'double',
    'decimal',
    'regex',
    'javascript',
    'javascriptWithScope',
    'symbol',
    -1,
    10,
    ['number', 'null'],
    ['int', 'array']
  ),
  patterns: fc.constantFrom<RegExp | BSONRegExp>(/x/, /^x/, /Y/i, new BSONRegExp('x', 'i'), /./),
  withArraysInArrays: true,
  withSchemas: true
}

export const plain: Profile = {
  scalars: fc.constantFrom<unknown>(null, 0, 1, 2, 3.5, -1, 'x', 'y', 'xyz', '', true, false),
  keys: fc.constantFrom('a', 'b', 'c', 'd'),
  paths: fc.constantFrom('a', 'b', 'c', 'a.b', 'a.b.c', 'b.a', 'c.d', 'a.0', 'a.1.b'),
  types: fc.constantFrom<unknown>('number', 'string', 'object', 'array', 'null', 'bool'),
  patterns: fc.constantFrom<RegExp>(/x/, /^x/, /Y/i, /z$/),
  withArraysInArrays: false,
  withSchemas: false
}

/** Documents with up to `depth` levels of nesting. */
export function documents(profile: Profile, depth = 3): fc.Arbitrary<Document> {
  return objects(profile, values(profile, depth))
}

/** A scalar, an object or an array. */
export function values(profile: Profile, depth: number): fc.Arbitrary<unknown> {
  if (depth === 0) return profile.scalars
  const inside = values(profile, depth - 1)
  const element = profile.withArraysInArrays ? inside : fc.oneof(profile.scalars, objects(profile, inside))
  return fc.oneof(
    { weight: 4, arbitrary: profile.scalars },
    { weight: 3, arbitrary: objects(profile, inside) },
    { weight: 3, arbitrary: fc.array(element, { maxLength: 3 }) }
  )
}

function objects(profile: Profile, value: fc.Arbitrary<unknown>): fc.Arbitrary<Document> {
  return fc.array(fc.tuple(profile.keys, value), { maxLength: 3 }).map((entries) => Object.fromEntries(entries))
}

/** Filters nested up to `depth` levels of logical operators and `$elemMatch`. */
export function filters(profile: Profile, depth = 3): fc.Arbitrary<FilterObject> {
  const single = profile.withSchemas
    ? fc.oneof(
        { weight: 9, arbitrary: fieldFilters(profile, depth) },
        { weight: 1, arbitrary: schemasFor(profile, Math.min(depth, 2)).map(($jsonSchema) => ({ $jsonSchema })) }
      )
    : fieldFilters(profile, depth)
  const several = fc.array(fc.tuple(profile.paths, operand(profile, depth)), { minLength: 1, maxLength: 2 })
  const conjunction = several.map((entries) => Object.fromEntries(entries))
  if (depth === 0) return single
  const children = fc.array(filters(profile, depth - 1), { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { weight: 6, arbitrary: single },
    { weight: 1, arbitrary: conjunction },
    { weight: 1, arbitrary: children.map((list) => ({ $and: list })) },
    { weight: 1, arbitrary: children.map((list) => ({ $or: list })) },
    { weight: 1, arbitrary: children.map((list) => ({ $nor: list })) }
  )
}

/** Schemas whose property names and `enum` members are the profile's keys and values. */
export function schemasFor(profile: Profile, depth: number): fc.Arbitrary<FilterObject> {
  return schemas({ keys: profile.keys, literals: values(profile, 1) }, depth)
}

function fieldFilters(profile: Profile, depth: number): fc.Arbitrary<FilterObject> {
  return fc.tuple(profile.paths, operand(profile, depth)).map(([path, value]) => ({ [path]: value }))
}

/** The part of a filter after a path: a value, a pattern or operators. */
function operand(profile: Profile, depth: number): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: literals(profile) },
    { weight: 1, arbitrary: profile.patterns },
    { weight: 6, arbitrary: operators(profile, depth) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(operators(profile, depth), operators(profile, depth))
        .map(([first, second]) => ({ ...first, ...second }))
    }
  )
}

/** Values to compare with; the first key of an object is never one that would make it an operator expression. */
function literals(profile: Profile): fc.Arbitrary<unknown> {
  return values(profile, 2).filter((value) => !startsWithOperator(value))
}

function startsWithOperator(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.keys(value)[0]?.startsWith('$') ?? false
}

function isRegex(value: unknown): boolean {
  return value instanceof RegExp || value instanceof BSONRegExp
}

/** One operator with its argument. */
export function operators(profile: Profile, depth: number): fc.Arbitrary<FilterObject> {
  const literal = literals(profile)
  const comparable = literal.filter((value) => !isRegex(value))
  const list = fc.array(literal, { maxLength: 3 })
  const simple: fc.Arbitrary<FilterObject>[] = [
    comparable.map(($eq) => ({ $eq })),
    comparable.map(($ne) => ({ $ne })),
    comparable.map(($gt) => ({ $gt })),
    comparable.map(($gte) => ({ $gte })),
    comparable.map(($lt) => ({ $lt })),
    comparable.map(($lte) => ({ $lte })),
    list.map(($in) => ({ $in })),
    list.map(($nin) => ({ $nin })),
    list.map(($all) => ({ $all })),
    fc.boolean().map(($exists) => ({ $exists })),
    profile.types.map(($type) => ({ $type })),
    fc.nat(3).map(($size) => ({ $size })),
    fc.constantFrom([2, 0], [2, 1], [3, -1]).map(($mod) => ({ $mod })),
    profile.patterns.filter((pattern) => pattern instanceof RegExp).map(($regex) => ({ $regex })),
    fc
      .tuple(fc.constantFrom('$bitsAllSet', '$bitsAnySet', '$bitsAllClear', '$bitsAnyClear'), fc.constantFrom([0], 2))
      .map(([operator, bits]) => ({ [operator]: bits }))
  ]
  if (depth === 0) return fc.oneof(...simple)
  const inside = operators(profile, depth - 1)
  return fc.oneof(
    ...simple,
    inside.map(($not) => ({ $not })),
    profile.patterns.map(($not) => ({ $not })),
    inside.map(($elemMatch) => ({ $elemMatch })),
    filters(profile, depth - 1).map(($elemMatch) => ({ $elemMatch })),
    fc
      .array(
        filters(profile, 0).map(($elemMatch) => ({ $elemMatch })),
        { minLength: 1, maxLength: 2 }
      )
      .map(($all) => ({ $all }))
  )
}

/** Prints and returns the seed of a random test: PETALDB_SEED, or the given one, or one from the clock. */
export function testSeed(fallback = Date.now() % 2 ** 31): number {
  const seed = Number(process.env.PETALDB_SEED ?? fallback)
  console.log(`seed ${seed}`)
  return seed
}
