/** Operators on arrays and sets, with null and missing, positions, other types and values of different kinds. */
import { Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { gives, refuses } from './evaluate.ts'

const document = {
  list: [3, 1, 2],
  empty: [],
  nothing: null,
  text: 'abc',
  people: [{ name: 'Bo', age: 3 }, { name: 'Al', age: 3 }, { name: 'Cy' }, 'x'],
  nested: [[1, 2], [3]],
  withNull: [5, null, 1],
  one: [1],
  decimal: Decimal128.fromString('1.0')
}

test('operators that select or find an element by position return it, null or nothing', async () => {
  await gives(
    [
      [{ $arrayElemAt: ['$list', 0] }, 3],
      [{ $arrayElemAt: ['$list', -1] }, 2],
      [{ $arrayElemAt: ['$list', -4] }, undefined],
      [{ $arrayElemAt: ['$list', 3n] }, undefined],
      [{ $arrayElemAt: ['$list', 1n] }, 1],
      [{ $arrayElemAt: ['$none', 0] }, null],
      [{ $arrayElemAt: ['$list', '$none'] }, null],
      [{ $first: '$list' }, 3],
      [{ $last: ['$list'] }, 2],
      [{ $first: '$empty' }, undefined],
      [{ $last: '$empty' }, undefined],
      [{ $last: '$none' }, null],
      [{ $first: '$nested' }, [1, 2]],
      [{ $last: '$nested' }, [3]],
      [{ $indexOfArray: ['$list', 2] }, 2],
      [{ $indexOfArray: ['$list', 9] }, -1],
      [{ $indexOfArray: ['$list', 9, 1] }, -1],
      [{ $indexOfArray: ['$list', 3, 1] }, -1],
      [{ $indexOfArray: ['$list', 2, 1, 2] }, -1],
      [{ $indexOfArray: ['$list', 2, 2, 1] }, -1],
      [{ $indexOfArray: ['$list', { $add: ['$decimal', 0] }] }, 1],
      [{ $indexOfArray: ['$none', 2] }, null]
    ],
    document
  )
  await refuses(
    [
      { $arrayElemAt: ['$text', 0] },
      { $arrayElemAt: ['$list', 0.5] },
      { $arrayElemAt: ['$list'] },
      { $first: '$text' },
      { $indexOfArray: ['$text', 'a'] },
      { $indexOfArray: ['$list', 1, -1] },
      { $indexOfArray: ['$list', 1, '$none'] }
    ],
    document
  )
})

test('operators that take parts of arrays or combine arrays return the documented results', async () => {
  await gives(
    [
      [{ $slice: ['$list', 2] }, [3, 1]],
      [{ $slice: ['$list', -2] }, [1, 2]],
      [{ $slice: ['$list', 0] }, []],
      [{ $slice: ['$list', 1, 1] }, [1]],
      [{ $slice: ['$list', -9, 2] }, [3, 1]],
      [{ $slice: ['$list', 9, 2] }, []],
      [{ $slice: ['$none', 2] }, null],
      [{ $slice: ['$list', '$none'] }, null],
      [{ $concatArrays: ['$list', ['$none'], '$nested'] }, [3, 1, 2, null, [1, 2], [3]]],
      [{ $concatArrays: ['$list', '$none'] }, null],
      [{ $concatArrays: [] }, []],
      [{ $concatArrays: '$nested' }, [[1, 2], [3]]],
      [{ $reverseArray: '$list' }, [2, 1, 3]],
      [{ $reverseArray: '$none' }, null],
      [{ $size: '$list' }, 3],
      [{ $size: { $literal: [1] } }, 1],
      [{ $isArray: '$none' }, false],
      [{ $isArray: [[1]] }, true],
      [{ $in: ['$decimal', '$list'] }, true],
      [{ $range: [0, 3] }, [0, 1, 2]],
      [{ $range: [3, 0, -2] }, [3, 1]],
      [{ $range: [0, 3, -1] }, []],
      [{ $range: [0n, 2n] }, [0, 1]],
      [{ $zip: { inputs: ['$list', '$withNull', '$one'] } }, [[3, 5, 1]]],
      [{ $zip: { inputs: ['$list', '$empty'] } }, []],
      [
        { $zip: { inputs: ['$withNull', '$one'], useLongestLength: true, defaults: ['a', 'b'] } },
        [
          [5, 1],
          [null, 'b'],
          [1, 'b']
        ]
      ],
      [
        { $zip: { inputs: ['$one', '$list'], useLongestLength: true } },
        [
          [1, 3],
          [null, 1],
          [null, 2]
        ]
      ],
      [{ $zip: { inputs: ['$list', '$none'] } }, null]
    ],
    document
  )
  await refuses(
    [
      { $slice: ['$text', 1] },
      { $slice: ['$list', 1, 0] },
      { $slice: ['$list', 1, -1] },
      { $slice: ['$list', 1.5] },
      { $concatArrays: ['$list', '$text'] },
      { $reverseArray: '$text' },
      { $size: '$none' },
      { $size: '$text' },
      { $in: [1, '$none'] },
      { $range: [0, 3, 0] },
      { $range: [0, 2 ** 31] },
      { $range: [0, 2 ** 31 - 1] },
      { $range: ['$none', 2] },
      { $range: [0, 3, '$none'] },
      { $range: [0, 3, null] },
      { $range: [0.5, 2] },
      { $zip: { inputs: '$list' } },
      { $zip: { inputs: [] } },
      { $zip: { inputs: ['$list', '$text'] } },
      { $zip: { inputs: ['$list'], defaults: [1] } },
      { $zip: { inputs: ['$list'], useLongestLength: true, defaults: [1, 2] } },
      { $zip: { inputs: ['$list'], useLongestLength: 1 } }
    ],
    document
  )
})

test('variables belong to the innermost operator that defines them', async () => {
  await gives(
    [
      [{ $map: { input: '$list', in: { $add: ['$$this', 1] } } }, [4, 2, 3]],
      [{ $map: { input: '$list', as: 'n', in: '$$n.x' } }, [null, null, null]],
      [{ $map: { input: '$people', as: 'p', in: '$$p.age' } }, [3, 3, null, null]],
      [{ $map: { input: '$none', in: '$$this' } }, null],
      [{ $map: { input: '$list', in: '$text' } }, ['abc', 'abc', 'abc']],
      [
        {
          $map: {
            input: '$nested',
            in: { $reduce: { input: '$$this', initialValue: 0, in: { $add: ['$$value', '$$this'] } } }
          }
        },
        [3, 3]
      ],
      [
        { $map: { input: '$nested', as: 'a', in: { $map: { input: '$$a', as: 'b', in: [{ $size: '$$a' }, '$$b'] } } } },
        [
          [
            [2, 1],
            [2, 2]
          ],
          [[1, 3]]
        ]
      ],
      [{ $filter: { input: '$list', cond: { $gt: ['$$this', 1] } } }, [3, 2]],
      [{ $filter: { input: '$list', as: 'n', cond: { $gt: ['$$n', 1] }, limit: 1 } }, [3]],
      [{ $filter: { input: '$list', cond: true, limit: { $add: [1, 1] } } }, [3, 1]],
      [{ $filter: { input: '$list', cond: true, limit: '$none' } }, [3, 1, 2]],
      [{ $filter: { input: '$none', cond: true, limit: 'x' } }, null],
      [{ $filter: { input: '$list', cond: { $toDecimal: '0' } } }, []],
      [{ $filter: { input: '$none', cond: true } }, null],
      [{ $reduce: { input: '$list', initialValue: '', in: { $concat: ['$$value', '$text'] } } }, 'abcabcabc'],
      [{ $reduce: { input: '$empty', initialValue: 7, in: '$$this' } }, 7],
      [{ $reduce: { input: '$none', initialValue: 7, in: '$$this' } }, null],
      [{ $let: { vars: { a: 1, b: '$text' }, in: ['$$a', '$$b'] } }, [1, 'abc']],
      [{ $let: { vars: { a: 1 }, in: { $let: { vars: { a: 2, b: '$$a' }, in: ['$$a', '$$b'] } } } }, [2, 1]],
      [{ $let: { vars: { a: '$none' }, in: { $type: '$$a' } } }, 'missing'],
      [
        {
          $let: {
            vars: { CURRENT: { text: { a: 1 } } },
            in: ['$text.a', '$list', { $getField: 'text' }, '$$ROOT.text']
          }
        },
        [1, null, { a: 1 }, 'abc']
      ],
      [{ $map: { input: [{ text: 1 }, 2], as: 'CURRENT', in: '$text' } }, [1, null]]
    ],
    document
  )
  await refuses(
    [
      { $map: { input: '$text', in: 1 } },
      { $map: { input: '$list' } },
      { $map: { input: '$list', in: '$$that' } },
      { $map: { input: '$list', as: 'This', in: 1 } },
      { $map: { input: '$list', in: 1, limit: 2 } },
      { $filter: { input: '$text', cond: true } },
      { $filter: { input: '$list', cond: true, limit: 0 } },
      { $filter: { input: '$list', cond: true, limit: 1.5 } },
      { $reduce: { input: '$text', initialValue: 0, in: 1 } },
      { $reduce: { input: '$list', initialValue: '$$value', in: 1 } },
      { $let: { vars: { a: 1 } } },
      { $let: { vars: { ROOT: 1 }, in: 1 } },
      { $let: { vars: { a: 1, b: '$$a' }, in: 1 } }
    ],
    document
  )
})

test('$sortArray, $firstN, $lastN, $minN and $maxN order and select elements', async () => {
  await gives(
    [
      [{ $sortArray: { input: '$list', sortBy: 1 } }, [1, 2, 3]],
      [{ $sortArray: { input: '$list', sortBy: 1n } }, [1, 2, 3]],
      [{ $sortArray: { input: '$list', sortBy: Long.NEG_ONE } }, [3, 2, 1]],
      [{ $sortArray: { input: '$withNull', sortBy: -1 } }, [5, 1, null]],
      [
        { $sortArray: { input: '$people', sortBy: { age: -1, name: 1 } } },
        [{ name: 'Al', age: 3 }, { name: 'Bo', age: 3 }, 'x', { name: 'Cy' }]
      ],
      [
        { $sortArray: { input: { $literal: ['\u{1f600}', '\uffee', 10n, 2] }, sortBy: 1 } },
        [2, 10n, '\uffee', '\u{1f600}']
      ],
      [
        { $sortArray: { input: { $literal: [{ x: [5, 1] }, { x: 3 }, { x: [] }, {}, 7] }, sortBy: { x: 1 } } },
        [{}, 7, { x: 3 }, { x: [] }, { x: [5, 1] }]
      ],
      [
        { $sortArray: { input: { $literal: [{ x: { y: 2 } }, { x: [{ y: 1 }] }] }, sortBy: { 'x.y': 1 } } },
        [{ x: [{ y: 1 }] }, { x: { y: 2 } }]
      ],
      [
        { $sortArray: { input: { $literal: [{ x: { y: 2 } }, { x: [{ y: 3 }] }] }, sortBy: { 'x.y': 1 } } },
        [{ x: [{ y: 3 }] }, { x: { y: 2 } }]
      ],
      [{ $sortArray: { input: '$none', sortBy: 1 } }, null],
      [{ $firstN: { input: '$withNull', n: 2 } }, [5, null]],
      [{ $lastN: { input: '$withNull', n: 2 } }, [null, 1]],
      [{ $lastN: { input: '$withNull', n: 9n } }, [5, null, 1]],
      [{ $lastN: { input: '$withNull', n: 2n ** 63n - 1n } }, [5, null, 1]],
      [{ $firstN: { input: '$withNull', n: 3e9 } }, [5, null, 1]],
      [{ $minN: { input: '$withNull', n: 2 } }, [1, 5]],
      [{ $maxN: { input: '$withNull', n: 9 } }, [5, 1]],
      [{ $maxN: { input: { $literal: [2, 10n, 9] }, n: 1 } }, [10n]],
      [{ $minN: { input: '$empty', n: { $add: [1, 1] } } }, []]
    ],
    document
  )
  await refuses(
    [
      { $sortArray: { input: '$text', sortBy: 1 } },
      { $sortArray: { input: '$list', sortBy: 2 } },
      { $sortArray: { input: '$list', sortBy: {} } },
      { $firstN: { input: '$none', n: 1 } },
      { $lastN: { input: '$list', n: 0 } },
      { $minN: { input: '$list', n: '$none' } },
      { $maxN: { input: '$list', n: 1.5 } },
      { $maxN: { input: '$list' } }
    ],
    document
  )
})

test('set operators treat equal elements as one', async () => {
  await gives(
    [
      [{ $setUnion: ['$list', [2, 4]] }, [3, 1, 2, 4]],
      [{ $setUnion: ['$one', ['$decimal', 1n, { a: 1, b: 2 }, { b: 2, a: 1 }]] }, [1, { a: 1, b: 2 }, { b: 2, a: 1 }]],
      [{ $setUnion: ['$list', '$none'] }, null],
      [{ $setUnion: '$list' }, [3, 1, 2]],
      [{ $setIntersection: ['$list', [1n, 2, 2]] }, [1, 2]],
      [{ $setIntersection: [['\u{1f600}'], ['\u{1f600}']] }, ['\u{1f600}']],
      [{ $setIntersection: [] }, []],
      [{ $setIntersection: ['$list', '$none'] }, null],
      [{ $setDifference: [[1, 1, 5, 5], '$one'] }, [5]],
      [{ $setDifference: ['$none', '$one'] }, null],
      [
        {
          $setEquals: [
            [1, 2, 2],
            [2, 1n]
          ]
        },
        true
      ],
      [{ $setEquals: [[1], [1], [1, 2]] }, false],
      [{ $setEquals: [['$nested'], ['$nested']] }, true],
      [{ $setIsSubset: ['$one', '$list'] }, true],
      [{ $setIsSubset: ['$list', '$one'] }, false],
      [{ $allElementsTrue: ['$withNull'] }, false],
      [{ $allElementsTrue: [[true, 'x', []]] }, true],
      [{ $allElementsTrue: '$empty' }, true],
      [{ $anyElementTrue: '$empty' }, false],
      [{ $anyElementTrue: [[0, { $toDecimal: 0 }, 0n]] }, false]
    ],
    document
  )
  await refuses(
    [
      { $setUnion: ['$list', '$text'] },
      { $setIntersection: ['$text'] },
      { $setDifference: ['$list'] },
      { $setDifference: ['$list', 1] },
      { $setEquals: ['$list'] },
      { $setEquals: ['$list', '$none'] },
      { $setIsSubset: ['$none', '$list'] },
      { $allElementsTrue: '$none' },
      { $anyElementTrue: [1, 2] }
    ],
    document
  )
})

test('arrays that grow by $reduce and $concatArrays are copied fast; as many as 200,000 are joined at once', async () => {
  const start = cpuMilliseconds()
  const append = { $concatArrays: ['$$value', ['$$this', ['$$this']]] }
  const grown = { $reduce: { input: { $range: [0, 10_000] }, initialValue: [], in: append } }
  await gives(
    [
      [{ $size: grown }, 20_000],
      [{ $slice: [grown, -2] }, [9_999, [9_999]]],
      [{ $size: { $concatArrays: Array.from({ length: 200_000 }, () => '$list') } }, 600_000]
    ],
    document
  )
  // Copying element by element, it took thirteen seconds.
  const elapsed = cpuMilliseconds() - start
  assert.ok(elapsed < 6_000, `${elapsed} ms`)
})

test.run()
