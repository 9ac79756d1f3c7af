/** $bucket: constants for bounds and default, and what is refused. */
import { test } from 'uvu'
import { over, refusesStages, same } from './aggregate-over.ts'

const numbers = [{ v: 1 }, { v: 5 }, { v: 8 }]

async function buckets(bucket: object): Promise<unknown> {
  const found = await over(numbers, { $bucket: { groupBy: '$v', output: { all: { $push: '$v' } }, ...bucket } })
  return found.map(({ _id, all }) => [_id, all])
}

test('boundaries and default are constant expressions', async () => {
  same(await buckets({ boundaries: [0, { $add: [3, 4] }], default: { $concat: ['a', 'b'] } }), [
    [0, [1, 5]],
    ['ab', [8]]
  ])
  same(await buckets({ boundaries: [{ $literal: 0 }, 5, 9] }), [
    [0, [1]],
    [5, [5, 8]]
  ])
  same(await buckets({ boundaries: [0, 5], default: { $literal: 'x' } }), [
    [0, [1]],
    ['x', [5, 8]]
  ])
  same(await buckets({ boundaries: [0, 5], default: { $literal: '$v' } }), [
    [0, [1]],
    ['$v', [5, 8]]
  ])
  same(await buckets({ boundaries: [0, 5], default: { a: { $literal: 1 }, b: [2] } }), [
    [0, [1]],
    [{ a: 1, b: [2] }, [5, 8]]
  ])
  same(await buckets({ boundaries: [0, 5], default: null }), [
    [null, [5, 8]],
    [0, [1]]
  ])
})

test('numbers of all kinds are of one type', async () => {
  same(await buckets({ boundaries: [0, 5n, 9.5] }), [
    [0, [1]],
    [5n, [5, 8]]
  ])
})

test('what is no constant, no order of one type, or no value to group by is refused, whatever the documents are', async () => {
  const boundaries = [0, 5]
  const refused: [bucket: object, message: RegExp][] = [
    [{ groupBy: '$v', boundaries, default: '$v' }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: '$$NOW' }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: { $add: [1, '$v'] } }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: { $rand: {} } }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: { $literal: 3 } }, /outside/],
    [{ groupBy: '$v', boundaries, default: { $add: [1, 2] } }, /outside/],
    [{ groupBy: '$v', boundaries: [0, '$v'] }, /boundaries must be constant/],
    [{ groupBy: '$v', boundaries: [0, { a: ['$v'] }] }, /boundaries must be constant/],
    [{ groupBy: '$v', boundaries: [0, 'a'] }, /boundaries must be of one type, got \w+ and string/],
    [{ groupBy: '$v', boundaries: [null, 1] }, /boundaries must be of one type/],
    [{ groupBy: '$v', boundaries: [5, { $add: [1, 1] }] }, /boundaries must ascend/],
    [{ groupBy: '$v', boundaries: [0] }, /at least two/],
    [{ groupBy: '$v', boundaries: { $literal: [0, 5] } }, /must be an array/],
    [{ groupBy: 'v', boundaries }, /groupBy takes a path/],
    [{ groupBy: { a: '$v' }, boundaries }, /groupBy takes a path/],
    [{ groupBy: 5, boundaries }, /groupBy takes a path/],
    [{ boundaries }, /groupBy takes a path/]
  ]
  await refusesStages(
    numbers,
    refused.map(([$bucket, message]) => [{ $bucket }, 'BadValue', message])
  )
})

test.run()
