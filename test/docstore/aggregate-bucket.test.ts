/** $bucket: constants as boundaries and default, and what is refused. */
import { test } from 'uvu'
import { type Document, open } from '../../src/index.ts'
import { over, refusesStages, same } from './aggregate-over.ts'
import { rejects } from './scratch.ts'

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

test('variables of the call and $$NOW are constants', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany([{ v: new Date(0) }, { v: 3 }, { v: 7 }])
  const counts = (bucket: Document, stages: readonly Document[] = []) =>
    db.aggregate([...stages, { $bucket: { groupBy: '$v', ...bucket } }], { let: { low: 1, to: { end: 5 } } }).toArray()
  same(await counts({ boundaries: ['$$low', { $add: ['$$to.end', 1] }], default: '$$to' }), [
    { _id: 1, count: 1 },
    { _id: { end: 5 }, count: 2 }
  ])
  same(await counts({ boundaries: [new Date(0), '$$NOW'], default: 0 }), [
    { _id: 0, count: 2 },
    { _id: new Date(0), count: 1 }
  ])
  const shift = { $shift: { output: '$v', by: 1, default: '$$to.end' } }
  const shifted = [{ $setWindowFields: { sortBy: { v: 1 }, output: { v: shift } } }]
  same(await counts({ boundaries: [5, 6], default: 0 }, shifted), [
    { _id: 0, count: 2 },
    { _id: 5, count: 1 }
  ])
  await rejects(counts({ boundaries: ['$$low', '$$none'] }), 'BadValue')
  const inner = { $bucket: { groupBy: '$v', boundaries: [0, '$$low'] } }
  const lookup = { $lookup: { from: 'default', let: { low: '$v' }, pipeline: [inner], as: 'x' } }
  await rejects(counts({ boundaries: [0, 9] }, [lookup]), 'BadValue')
})

test('numbers of all kinds are one type', async () => {
  same(await buckets({ boundaries: [0, 5n, 9.5] }), [
    [0, [1]],
    [5n, [5, 8]]
  ])
})

test('bad boundaries, defaults and groupBy are refused, whatever the documents are', async () => {
  const boundaries = [0, 5]
  const refused: [bucket: object, message: RegExp][] = [
    [{ groupBy: '$v', boundaries, default: '$v' }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: '$$ROOT' }, /default must be constant/],
    [{ groupBy: '$v', boundaries: [0, '$$NOW'] }, /boundaries must be of the same type, got number and date/],
    [{ groupBy: '$v', boundaries, default: { $add: [1, '$v'] } }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: { $rand: {} } }, /default must be constant/],
    [{ groupBy: '$v', boundaries, default: { $literal: 3 } }, /outside/],
    [{ groupBy: '$v', boundaries, default: { $add: [1, 2] } }, /outside/],
    [{ groupBy: '$v', boundaries: [0, '$v'] }, /boundaries must be constant/],
    [{ groupBy: '$v', boundaries: [0, { a: ['$v'] }] }, /boundaries must be constant/],
    [{ groupBy: '$v', boundaries: [0, 'a'] }, /boundaries must be of the same type, got \w+ and string/],
    [{ groupBy: '$v', boundaries: [null, 1] }, /boundaries must be of the same type/],
    [{ groupBy: '$v', boundaries: [5, { $add: [1, 1] }] }, /boundaries must be in ascending order/],
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
