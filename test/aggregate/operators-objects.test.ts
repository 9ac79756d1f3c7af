/** Operators on conditions, objects and their fields, and the caller's functions. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import { gives, refuses } from './evaluate.ts'

/** To the linter, an object literal with the key `then` looks like a promise. */
const result = (value: unknown): object => Object.fromEntries([['then', value]])

const document = { a: 1, b: null, c: { x: 1, 'y.z': 2, $d: 3 }, list: [1], digits: { 0: 'key' }, many: ['zero'] }

test('conditional and logical operators return the documented results', async () => {
  await gives(
    [
      [{ $cond: ['$b', 'yes', 'no'] }, 'no'],
      [{ $cond: { if: '$list', ...result('$none'), else: 1 } }, undefined],
      [{ $ifNull: ['$none', '$b', '$a'] }, 1],
      [{ $ifNull: ['$b', '$none'] }, undefined],
      [
        {
          $switch: {
            branches: [
              { case: '$b', ...result(1) },
              { case: '$a', ...result(2) }
            ]
          }
        },
        2
      ],
      [{ $switch: { branches: [{ case: Decimal128.fromString('0'), ...result(1) }], default: '$a' } }, 1],
      [{ $switch: { branches: [{ case: 0n, ...result(1) }], default: 'none' } }, 'none'],
      [{ $and: [] }, true],
      [{ $or: [] }, false],
      [{ $and: ['$a', '$list', ''] }, true],
      [{ $not: ['$b'] }, true],
      [{ $cmp: ['$none', null] }, -1],
      [{ $function: { body: (...values: unknown[]) => values.length, args: ['$a', '$b'], lang: 'js' } }, 2]
    ],
    document
  )
  await refuses(
    [
      { $cond: [1, 2] },
      { $cond: { if: 1, ...result(2) } },
      { $cond: { if: 1, ...result(2), else: 3, otherwise: 4 } },
      { $ifNull: ['$a'] },
      { $ifNull: '$a' },
      { $switch: { branches: [] } },
      { $switch: { branches: [{ case: 1 }] } },
      { $switch: { branches: [{ case: '$b', ...result(1) }] } },
      { $switch: { branches: { case: 1, ...result(1) } } },
      { $eq: [1] },
      { $not: [1, 2] },
      { $toHashedIndexKey: 1 }
    ],
    document
  )
})

test('operators on fields of objects return the documented results', async () => {
  await gives(
    [
      [
        { $objectToArray: { x: 1, y: '$none', z: '$a' } },
        [
          { k: 'x', v: 1 },
          { k: 'z', v: 1 }
        ]
      ],
      [{ $objectToArray: '$none' }, null],
      [
        {
          $arrayToObject: {
            $literal: [
              ['a', 1],
              ['b', [2]],
              ['a', 3]
            ]
          }
        },
        { a: 3, b: [2] }
      ],
      [{ $arrayToObject: [[{ k: 'a', v: '$b' }]] }, { a: null }],
      [{ $arrayToObject: '$b' }, null],
      [{ $arrayToObject: [[]] }, {}],
      [{ $getField: 'a' }, 1],
      [{ $getField: { field: 'y.z', input: '$c' } }, 2],
      [{ $getField: { field: { $literal: '$d' }, input: '$c' } }, 3],
      [{ $getField: { field: 'x', input: '$list' } }, undefined],
      [{ $getField: { field: 'x', input: '$b' } }, null],
      [{ $getField: { field: 'x', input: '$none' } }, undefined],
      [{ $getField: { $concat: ['a', ''] } }, 1],
      [{ $setField: { field: 'y.z', input: '$c', value: '$a' } }, { x: 1, 'y.z': 1, $d: 3 }],
      [{ $setField: { field: 'x', input: '$c', value: '$$REMOVE' } }, { 'y.z': 2, $d: 3 }],
      [{ $setField: { field: 'x', input: '$c', value: '$none' } }, { 'y.z': 2, $d: 3 }],
      [{ $setField: { field: 'x', input: '$b', value: 1 } }, null],
      [{ $unsetField: { field: { $literal: '$d' }, input: '$c' } }, { x: 1, 'y.z': 2 }],
      // A digit component of a path is a key inside operators, too.
      [{ $ifNull: ['$digits.0', 'none'] }, 'key'],
      [{ $ifNull: ['$many.0', 'none'] }, []],
      [{ $concatArrays: [['$none', { x: '$none' }]] }, [null, {}]]
    ],
    document
  )
  await refuses(
    [
      { $objectToArray: '$list' },
      { $arrayToObject: '$a' },
      { $arrayToObject: { $literal: [['a', 1, 2]] } },
      { $arrayToObject: { $literal: [['a', 1], { k: 'b', v: 1 }] } },
      { $arrayToObject: { $literal: [{ k: 'b', v: 1, w: 2 }] } },
      { $arrayToObject: { $literal: [[1, 2]] } },
      { $arrayToObject: { $literal: [['__proto__', {}]] } },
      { $getField: 1 },
      { $getField: { field: '$none' } },
      { $getField: { field: 'a', from: '$c' } },
      { $setField: { field: 'a', input: '$c' } },
      { $setField: { field: 1, input: '$c', value: 1 } },
      { $setField: { field: 'a', input: '$list', value: 1 } },
      { $unsetField: { field: 'a', input: '$a' } }
    ],
    document
  )
})

test("objects in expressions may not have names with a '.', except in literals and by $setField", async () => {
  await refuses([
    { 'x.y': 1 },
    { a: { 'x.y': 1 } },
    [{ 'x.y': 1 }],
    { $cond: [true, { 'x.y': 1 }, 2] },
    { $ifNull: ['$b', { a: [{ 'x.y': 1 }] }] },
    { $map: { input: '$list', in: { 'x.y': '$$this' } } }
  ])
  await gives([
    [{ $literal: { 'x.y': 1 } }, { 'x.y': 1 }],
    [{ a: { $literal: [{ 'x.y': 1 }] } }, { a: [{ 'x.y': 1 }] }],
    [{ $setField: { field: 'x.y', input: {}, value: 1 } }, { 'x.y': 1 }]
  ])
})

test.run()
