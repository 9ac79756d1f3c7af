/** Operators on numbers of all kinds, conversions, and accumulators in expressions. */
import { Binary, Decimal128, Int32, Long, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { evaluate, gives, refuses } from './evaluate.ts'

const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
const least = -(2n ** 63n)
const id = new ObjectId('65a1b2c3d4e5f60718293a41')
const document = {
  long: 7n,
  least,
  half: decimal('2.5'),
  negative: decimal('-2.5'),
  nothing: null,
  text: 'x',
  list: [1, 2n, decimal('0.5'), 'x', null],
  id,
  at: new Date('2024-01-15T10:30:00.250Z'),
  stamp: new Timestamp({ t: 10, i: 3 }),
  bytes: new Binary(new Uint8Array([1, 2, 3]))
}

test('arithmetic keeps 64-bit integers and decimals', async () => {
  await gives(
    [
      [{ $mod: [500_000_000_000n, 450_000_000_000] }, 50_000_000_000],
      [{ $mod: [500_000_000_000n, 450_000_000_000n] }, 50_000_000_000n],
      [{ $mod: [5_000_000_000, 3n] }, 2],
      [{ $mod: [10, Number.POSITIVE_INFINITY] }, 10],
      [{ $mod: [10n, Number.NEGATIVE_INFINITY] }, 10],
      [{ $abs: '$long' }, 7n],
      [{ $abs: -3.5 }, 3.5],
      [{ $abs: '$negative' }, decimal('2.5')],
      [{ $abs: { $subtract: [0, '$long'] } }, 7n],
      [{ $abs: '$none' }, null],
      [{ $ceil: -1.5 }, -1],
      [{ $ceil: '$half' }, decimal('3')],
      [{ $ceil: '$negative' }, decimal('-2')],
      [{ $floor: '$negative' }, decimal('-3')],
      [{ $floor: '$long' }, 7n],
      [{ $floor: 1.5 }, 1],
      [{ $divide: ['$long', 2] }, 3.5],
      [{ $divide: [1, '$half'] }, decimal('0.4')],
      [{ $divide: [decimal('1'), 3] }, decimal(`0.${'3'.repeat(34)}`)],
      [{ $divide: ['$none', 0] }, null],
      [{ $mod: ['$negative', 2] }, decimal('-0.5')],
      [{ $mod: [decimal('1.1'), decimal('0.1')] }, decimal('0.0')],
      [{ $mod: [-7, 3] }, -1],
      [{ $pow: [2, 10] }, 1024],
      [{ $pow: ['$long', 2] }, 49n],
      [{ $pow: ['$long', 40] }, 7 ** 40],
      [{ $pow: [2, -1] }, 0.5],
      [{ $pow: ['$long', -1] }, 7 ** -1],
      [{ $pow: ['$half', 2] }, decimal('6.25')],
      [{ $pow: ['$nothing', 2] }, null],
      [{ $sqrt: 9 }, 3],
      [{ $sqrt: '$long' }, Math.sqrt(7)],
      [{ $sqrt: decimal('6.25') }, decimal('2.5')],
      [{ $exp: 0 }, 1],
      [{ $ln: 1n }, 0],
      [{ $log: [8, 2] }, Math.log(8) / Math.log(2)],
      [{ $log10: 1000 }, 3],
      [{ $ln: '$none' }, null],
      [{ $sin: 0 }, 0],
      [{ $atan2: [1, 1n] }, Math.PI / 4],
      [{ $acos: 1 }, 0],
      [{ $degreesToRadians: 180 }, Math.PI],
      [{ $tan: '$nothing' }, null],
      [{ $add: ['$at', 1.6] }, new Date('2024-01-15T10:30:00.252Z')],
      [{ $add: [0.1, 0.2, 0.3] }, 0.6],
      [{ $add: [1e16, 1, -1e16] }, 1],
      [{ $add: ['$half', 1, '$long'] }, decimal('10.5')],
      [{ $add: [2n ** 63n - 1n, 1] }, 2 ** 63],
      [{ $add: [2n ** 63n - 1n, 1, -5] }, 2n ** 63n - 5n],
      [{ $subtract: ['$least', 1] }, -(2 ** 63)],
      [{ $subtract: [-1, '$least'] }, 2n ** 63n - 1n],
      [{ $subtract: ['$half', '$long'] }, decimal('-4.5')],
      [{ $multiply: [2n ** 62n, 4] }, 2 ** 64],
      [{ $multiply: [-1, 0] }, 0],
      [{ $mod: [-4, 2] }, 0],
      [{ $trunc: [-2.75, 1] }, -2.7],
      [{ $trunc: ['$negative'] }, decimal('-2')],
      [{ $round: ['$half'] }, decimal('2')],
      [{ $round: [-0.4] }, -0],
      [{ $round: [-0.04, 1] }, -0],
      [{ $trunc: [-0.9] }, -0],
      [{ $round: [-1234, -4] }, 0],
      [{ $round: [0.4] }, 0],
      [{ $round: ['$nothing'] }, null],
      [{ $round: ['$long', '$none'] }, null],
      [{ $round: ['$long', '$nothing'] }, null],
      [{ $trunc: [2.5, '$none'] }, null]
    ],
    document
  )
  await refuses(
    [
      { $abs: '$text' },
      { $abs: '$least' },
      { $ceil: '$at' },
      { $divide: [1, 0] },
      { $divide: [1, decimal('0.00')] },
      { $divide: ['$text', 1] },
      { $mod: [1, 0n] },
      { $pow: [0, -1] },
      { $sqrt: -1 },
      { $ln: 0 },
      { $log: [8, 1] },
      { $log: [0, 2] },
      { $acos: 2 },
      { $cos: Number.POSITIVE_INFINITY },
      { $acosh: 0.5 },
      { $exp: '$text' },
      { $log: [1] },
      { $round: ['$text'] },
      { $trunc: [1, 101] },
      { $round: [2n ** 63n - 1n, -1] },
      { $add: ['$at', '$at'] }
    ],
    document
  )
})

test('bitwise operators work on integers of 32 or 64 bits', async () => {
  await gives(
    [
      [{ $bitAnd: [6, 3] }, 2],
      [{ $bitAnd: [] }, -1],
      [{ $bitOr: [6, '$long'] }, 7n],
      [{ $bitOr: [1, 2 ** 40] }, 2n ** 40n + 1n],
      [{ $bitXor: [6, new Int32(3)] }, 5],
      [{ $bitXor: [-1, Long.fromNumber(1)] }, -2n],
      [{ $bitNot: 5 }, -6],
      [{ $bitNot: '$long' }, -8n],
      [{ $bitAnd: [1, '$none'] }, null],
      [{ $bitNot: '$nothing' }, null]
    ],
    document
  )
  await refuses([{ $bitAnd: [1.5] }, { $bitOr: [1, '$half'] }, { $bitXor: ['$text'] }, { $bitNot: true }], document)
})

test('conversions return the requested type, or fail', async () => {
  await gives(
    [
      // As in filters.
      [{ $type: 2 ** 31 - 1 }, 'int'],
      [{ $type: 2 ** 31 }, 'double'],
      [{ $type: -0 }, 'double'],
      [{ $type: '$long' }, 'long'],
      [{ $toInt: 2.9 }, 2],
      [{ $toInt: '-12' }, -12],
      [{ $toInt: '$negative' }, -2],
      [{ $toInt: true }, 1],
      [{ $toInt: '$none' }, null],
      [{ $toLong: '9007199254740993' }, 9007199254740993n],
      [{ $toLong: 5 }, 5n],
      [{ $toLong: '$at' }, 1705314600250n],
      [{ $toDouble: '1.5e3' }, 1500],
      [{ $toDouble: '$long' }, 7],
      [{ $toDouble: '$half' }, 2.5],
      [{ $toDouble: false }, 0],
      [{ $toDecimal: '0.10' }, decimal('0.10')],
      [{ $toDecimal: '$least' }, decimal('-9223372036854775808')],
      [{ $toDecimal: 5 }, decimal('5')],
      [{ $toDecimal: 0.1 }, decimal('0.100000000000000')],
      [{ $toBool: 'false' }, true],
      [{ $toBool: decimal('0.0') }, false],
      [{ $toBool: 0n }, false],
      [{ $toBool: '$id' }, true],
      [{ $toBool: '$list' }, true],
      [{ $toBool: '$nothing' }, null],
      [{ $toString: 2.5 }, '2.5'],
      [{ $toString: '$at' }, '2024-01-15T10:30:00.250Z'],
      [{ $toString: 1e15 }, '1000000000000000'],
      [{ $toString: 1e16 }, '1e+16'],
      [{ $toString: -1.5e21 }, '-1.5e+21'],
      [{ $toString: 0.0001 }, '0.0001'],
      [{ $toString: 0.00001 }, '1e-05'],
      [{ $toString: 1.25e-100 }, '1.25e-100'],
      [{ $toString: -0 }, '-0'],
      [{ $toString: Number.NEGATIVE_INFINITY }, '-Infinity'],
      [{ $toLower: 1e16 }, '1e+16'],
      [{ $toDouble: '-0' }, -0],
      [{ $toDecimal: `${'1'.repeat(34)}2.5` }, decimal(`${'1'.repeat(34)}E+1`)],
      [{ $toDecimal: '.5' }, decimal('0.5')],
      [{ $toDate: '2024-01-15T10:30:00' }, new Date('2024-01-15T10:30:00Z')],
      [{ $toDate: '2024-01-15' }, new Date('2024-01-15T00:00:00Z')],
      [{ $toDate: -1.5 }, new Date(-1)],
      [{ $toDate: '$stamp' }, new Date(10_000)],
      [{ $convert: { input: '12', to: 16 } }, 12],
      [{ $convert: { input: '12', to: 'long' } }, 12n],
      [{ $convert: { input: 'x', to: 'double', onError: '$long' } }, 7n],
      [{ $convert: { input: '$list', to: 'int', onError: '$none' } }, undefined],
      [{ $convert: { input: '$none', to: 'int', onNull: 'none' } }, 'none'],
      [{ $convert: { input: '$none', to: 'int' } }, null],
      [{ $convert: { input: 1, to: '$none' } }, null],
      [{ $convert: { input: 1, to: 'array', onError: 'none' } }, 'none'],
      [{ $convert: { input: 1, to: 127, onError: 'none' } }, 'none'],
      [{ $convert: { input: '$none', to: 'binData', onNull: 'null' } }, 'null'],
      [{ $binarySize: 'é' }, 2],
      [{ $binarySize: '$bytes' }, 3],
      [{ $bsonSize: { a: 'x' } }, 14],
      [{ $tsSecond: '$stamp' }, 10n],
      [{ $tsIncrement: '$stamp' }, 3n],
      [{ $isNumber: '$half' }, true],
      [{ $isNumber: '$none' }, false]
    ],
    document
  )
  await refuses(
    [
      { $toInt: '1.5' },
      { $toInt: ' 1' },
      { $toInt: '' },
      { $toInt: 2 ** 31 },
      { $toInt: Number.NaN },
      { $toInt: '$at' },
      { $toLong: 2 ** 63 },
      { $toLong: '0x10' },
      { $toDouble: '0x10' },
      { $toDouble: 'abc' },
      { $toDouble: decimal('1e400') },
      { $toDouble: decimal('-1e-400') },
      { $toDouble: decimal('1e-310') },
      { $toDouble: '1e400' },
      { $toDouble: '1e-400' },
      { $toDouble: '$id' },
      { $toDecimal: '1e7000' },
      { $toDecimal: '1e-999999999' },
      { $toDecimal: 'x' },
      { $toDecimal: '$list' },
      { $toString: '$list' },
      { $toObjectId: '65a1' },
      { $toDate: 'yesterday' },
      { $toDate: true },
      { $convert: { input: 1, to: 'boolean' } },
      { $convert: { input: null, to: 'nope' } },
      { $convert: { input: 1, to: 'number', onError: 'none' } },
      { $convert: { input: 1, to: 77, onError: 'none' } },
      { $convert: { input: 1, to: 'array' } },
      // MongoDB reports this by another code than the one that onError is for.
      { $convert: { input: new Date('+010000-01-01'), to: 'string', onError: 'none' } },
      { $convert: { input: new Date('-000001-01-01'), to: 2, onError: 'none' } },
      { $convert: { input: 1 } },
      { $convert: { input: 'x', to: 'int', onFailure: 1 } },
      { $toInt: [1, 2] },
      { $bsonSize: 1 },
      { $binarySize: 1 }
    ],
    document
  )
})

test('accumulators accept several values, or the elements of one array', async () => {
  await gives(
    [
      [{ $sum: '$list' }, decimal('3.5')],
      [{ $sum: ['$long', 1] }, 8n],
      [{ $sum: [['$long'], 1] }, 1],
      // 64-bit integers keep their last digits until the sum is rounded.
      [{ $sum: [2n ** 53n + 1n, 0.5] }, 2 ** 53 + 2],
      [{ $add: [2n ** 53n + 1n, 0.25] }, 2 ** 53 + 2],
      [{ $add: [2n ** 53n + 1n, 0.5, -(2n ** 53n)] }, 1.5],
      [{ $sum: [2n ** 62n + 1n, -(2 ** 62)] }, 1],
      [{ $sum: [2n ** 53n + 1n, Number.POSITIVE_INFINITY] }, Number.POSITIVE_INFINITY],
      [{ $sum: [] }, 0],
      [{ $avg: [1, 2, '$text'] }, 1.5],
      [{ $avg: '$none' }, null],
      [{ $min: ['$long', 3, null] }, 3],
      [{ $max: '$list' }, 'x'],
      [{ $stdDevPop: [2n, 4] }, 1],
      [{ $stdDevSamp: [1] }, null],
      [{ $stdDevPop: '$list' }, Math.sqrt(((1 - 3.5 / 3) ** 2 + (2 - 3.5 / 3) ** 2 + (0.5 - 3.5 / 3) ** 2) / 3)],
      [{ $mergeObjects: [{ a: 1, b: 1 }, '$none', { b: 2 }] }, { a: 1, b: 2 }],
      [{ $mergeObjects: '$none' }, {}],
      [{ $median: { input: [3, 1, '$long'], method: 'approximate' } }, 3],
      [{ $percentile: { input: 4, p: [0.5, 1], method: 'approximate' } }, [4, 4]]
    ],
    document
  )
  await refuses(
    [
      { $mergeObjects: ['$text'] },
      { $percentile: { input: 1, p: [2], method: 'approximate' } },
      { $percentile: { input: 1, p: [], method: 'approximate' } },
      { $push: 1 },
      { $topN: {} }
    ],
    document
  )
  for (const method of [{}, { method: 'exact' }, { method: 'Approximate' }, { method: null }, { method: '$text' }]) {
    await refuses([{ $median: { input: 1, ...method } }, { $percentile: { input: 1, p: [0.5], ...method } }], document)
  }
  await refuses([{ $rand: 1 }, { $rand: { a: 1 } }])
  const random = (await evaluate({ $rand: {} })) as number
  assert.ok(random >= 0 && random < 1)
})

test.run()
