/** fast-check arbitraries for every value that a document may hold. */
import {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID
} from 'bson'
import fc from 'fast-check'

/** Prints and returns the seed of this run: PETALDB_SEED, or a fresh one. */
export function seedOfRun(): number {
  const given = process.env.PETALDB_SEED
  const seed = given === undefined ? Date.now() % 0x7fff_ffff : Number(given)
  console.log(`seed ${seed}`)
  return seed
}

/** Any UTF-16 text, including lone surrogates and NUL. */
export const anyString = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
  fc.string({
    unit: fc.constantFrom('\0', '\u0001', 'é', '中', '😀', '\ud83d', '\ude00', '\uffff', 'a', '$'),
    maxLength: 6
  })
)

export const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -3n, max: 3n }),
  fc.bigInt({ min: -4n, max: 4n }).map((n) => 2n ** 53n + n),
  fc.bigInt({ min: -4n, max: 4n }).map((n) => -(2n ** 53n) + n)
)

export const decimal = fc.oneof(
  fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: -30, max: 30 }))
    .map(([digits, exponent]) => Decimal128.fromString(`${digits}E${exponent}`)),
  fc
    .constantFrom(
      '0',
      '-0',
      '1.0',
      '0.1',
      '0.10',
      '9007199254740993',
      '1E400',
      '-1E400',
      '1E-400',
      'NaN',
      'Infinity',
      '-Infinity'
    )
    .map((text) => Decimal128.fromString(text))
)

export const double = fc.oneof(
  fc.double(),
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0, -0, Number.NaN, 0.1, 1e17, 2 ** 53, -(2 ** 53), 2 ** 63, 1e300, 5e-324)
)

export const number = fc.oneof(
  double,
  int64,
  int64.map((n) => Long.fromBigInt(n)),
  fc.integer().map((n) => new Int32(n)),
  double.map((n) => new Double(n)),
  decimal
)

const bytes = fc.uint8Array({ maxLength: 6 })

export const special = fc.oneof(
  fc.date({ noInvalidDate: true }),
  bytes,
  fc.tuple(bytes, fc.constantFrom(0, 2, 5, 128)).map(([data, subtype]) => new Binary(data, subtype)),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((data) => new UUID(data)),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((data) => new ObjectId(data)),
  fc.tuple(fc.nat(), fc.nat()).map(([t, i]) => new Timestamp({ t, i })),
  fc.constantFrom(
    /a\/b/i,
    /^x$/ms,
    /(?:)/,
    new BSONRegExp('(?i)a', ''),
    new BSONRegExp('a/b', 'i'),
    new BSONRegExp('x', 'ix')
  ),
  fc.constant(new MinKey()),
  fc.constant(new MaxKey()),
  fc.constant(new Code('return 1')),
  fc.constant(new Code('return x', { x: 1 }))
)

export const scalar = fc.oneof(anyString, number, fc.boolean(), fc.constant(null), special)

/** Keys that exercise every escape: names of wrappers, more dollars, dots, digits, the empty key. */
export const anyKey = fc.oneof(
  fc.constantFrom('a', 'b', 'c', '', '0', '12', 'a.b', 'toJSON', 'constructor', '$', '$$', '$x'),
  fc.constantFrom('$date', '$oid', '$numberLong', '$$date', '$$$oid', '$code', '$scope', '$binary', '$type', '$minKey'),
  anyString.filter((key) => key !== '__proto__')
)

/** Values nested to depth 3. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 3, withCrossShrink: true }, scalar, tie('array'), tie('object')),
  array: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(anyKey, tie('value'), { maxKeys: 3, noNullPrototype: true })
})).value

export const anyDocument = fc.dictionary(anyKey, anyValue, { maxKeys: 5, noNullPrototype: true })
