/** $fill: what replaces null or missing fields, and what is refused. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { over, refusesStages, same } from './aggregate-over.ts'
import { rejects } from './scratch.ts'

const day = (n: number): Date => new Date(Date.UTC(2024, 0, n))

/** How to fill a field, its values in documents with `_id` from 1, and its values after filling. */
const columns: readonly (readonly [output: Document, values: readonly unknown[], gives: readonly unknown[]])[] = [
  [{ method: 'locf' }, [], []],
  [{ method: 'locf' }, [null, undefined, 'a', null, undefined, 7, null], [null, null, 'a', 'a', 'a', 7, 7]],
  [{ method: 'locf' }, [false, null, 0, null, '', null], [false, false, 0, 0, '', '']],
  [{ method: 'linear' }, [], []],
  [{ method: 'linear' }, [null, 1, null, undefined, 4, null, 5, undefined], [null, 1, 2, 3, 4, 4.5, 5, null]],
  [{ method: 'linear' }, [undefined, null], [null, null]],
  [{ method: 'linear' }, [1, null, null, 2], [1, 4 / 3, 5 / 3, 2]],
  [{ method: 'linear' }, [10, null, 0, null, 10], [10, 5, 0, 5, 10]],
  [{ method: 'linear' }, [1n, null, 2n], [1n, 1.5, 2n]],
  [
    { method: 'linear' },
    [Decimal128.fromString('0.1'), null, Decimal128.fromString('0.2')],
    [Decimal128.fromString('0.1'), Decimal128.fromString('0.15'), Decimal128.fromString('0.2')]
  ],
  [
    { method: 'linear' },
    [0, null, null, Decimal128.fromString('1')],
    [
      0,
      Decimal128.fromString('0.3333333333333333333333333333333333'),
      Decimal128.fromString('0.6666666666666666666666666666666667'),
      Decimal128.fromString('1')
    ]
  ],
  [{ method: 'linear' }, [0, null, Number.POSITIVE_INFINITY], [0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]],
  [{ value: 0 }, [1, null, undefined, 'a'], [1, 0, 0, 'a']],
  [{ value: '$_id' }, [null, 'a'], [1, 'a']],
  [{ value: { $multiply: ['$_id', 10] } }, [undefined, null, 'a'], [10, 20, 'a']],
  [{ value: null }, [undefined, null, 1], [null, null, 1]],
  // As with $set, a missing value is not set.
  [{ value: '$none' }, [undefined, 1], [undefined, 1]]
]

test('a column is filled in order', async () => {
  for (const [output, values, gives] of columns) {
    const documents = values.map((v, i) => (v === undefined ? { _id: i + 1 } : { _id: i + 1, v }))
    const found = await over(documents, { $fill: { sortBy: { _id: 1 }, output: { v: output } } })
    same(
      found.map(({ v }) => v),
      gives,
      `${JSON.stringify(output)} of ${values.join()}`
    )
  }
})

test('linear filling takes uneven distances, dates and descending order into account', async () => {
  const documents = [
    { _id: 1, at: 10, v: 0 },
    { _id: 2, at: 11 },
    { _id: 3, at: 14, v: 8 }
  ]
  const filled = (document: Document[], sortBy: Document): Promise<Document[]> =>
    over(document, { $fill: { sortBy, output: { v: { method: 'linear' } } } })
  same(await filled(documents, { at: 1 }), [documents[0], { _id: 2, at: 11, v: 2 }, documents[2]])
  same(await filled(documents, { at: -1 }), [documents[2], { _id: 2, at: 11, v: 2 }, documents[0]])
  const dated = documents.map((document) => ({ ...document, at: day(document.at) }))
  same(await filled(dated, { at: 1 }), [dated[0], { _id: 2, at: day(11), v: 2 }, dated[2]])
  const exact = documents.map((document) => ({ ...document, at: Decimal128.fromString(String(document.at)) }))
  same((await filled(exact, { at: 1 }))[1]?.v, Decimal128.fromString('2'))
})

const rows: readonly Document[] = [
  { _id: 1, part: 'b', at: 1, v: 1, w: 'x' },
  { _id: 2, part: 'a', at: 3, v: 7, w: null },
  { _id: 3, part: 'b', at: 3, v: 5, w: null },
  { _id: 4, part: 'a', at: 1, v: 1, w: 'y' },
  { _id: 5, part: 'b', at: 2, w: null },
  { _id: 6, part: 'a', at: 2, v: null },
  { _id: 7, at: 1 }
]

test('partitions by fields or by an expression are filled separately', async () => {
  const gives = [
    { _id: 7, at: 1, v: null, w: null },
    { _id: 4, part: 'a', at: 1, v: 1, w: 'y' },
    { _id: 6, part: 'a', at: 2, v: 4, w: 'y' },
    { _id: 2, part: 'a', at: 3, v: 7, w: 'y' },
    { _id: 1, part: 'b', at: 1, v: 1, w: 'x' },
    { _id: 5, part: 'b', at: 2, w: 'x', v: 3 },
    { _id: 3, part: 'b', at: 3, v: 5, w: 'x' }
  ]
  const output = { v: { method: 'linear' }, w: { method: 'locf' } }
  for (const by of [
    { partitionByFields: ['part'] },
    { partitionBy: '$part' },
    { partitionBy: { part: '$part' } },
    { partitionBy: { $toLower: '$part' } }
  ]) {
    same(await over(rows, { $fill: { ...by, sortBy: { at: 1 }, output } }), gives, JSON.stringify(by))
  }
})

test('locf needs no sortBy; constant values alone leave the order of documents unchanged', async () => {
  const ids = (documents: readonly Document[]): unknown => documents.map(({ _id }) => _id)
  const carried = await over(rows, { $fill: { output: { w: { method: 'locf' } } } })
  same(
    carried.map(({ _id, w }) => [_id, w]),
    [1, 2, 3, 4, 5, 6, 7].map((id) => [id, id < 4 ? 'x' : 'y'])
  )
  const $fill = { partitionByFields: ['part'], output: { w: { method: 'locf' } } }
  same(ids(await over(rows, { $fill })), [7, 2, 4, 6, 1, 3, 5])
  same(ids(await over(rows, { $fill: { sortBy: { at: 1 }, output: { w: { value: 0 } } } })), [1, 2, 3, 4, 5, 6, 7])
  // It streams: the limit ends the read.
  same(ids(await over(rows, { $fill: { output: { w: { value: 0 } } } }, { $limit: 2 })), [1, 2])
})

test('values see what methods have filled, but not each other', async () => {
  const documents = [{ _id: 1, a: 3 }, { _id: 2 }]
  const output = { b: { value: '$a' }, a: { method: 'locf' }, c: { value: '$b' } }
  same(await over(documents, { $fill: { sortBy: { _id: 1 }, output } }), [
    { _id: 1, a: 3, b: 3 },
    { _id: 2, a: 3, b: 3 }
  ])
})

test('paths are filled, but not inside arrays', async () => {
  const documents = [
    { _id: 1, a: { b: 1, c: 1 } },
    { _id: 2, a: { c: 2 } },
    { _id: 3 },
    { _id: 4, a: [{ b: 5 }, { c: 3 }] }
  ]
  same(await over(documents, { $fill: { sortBy: { _id: 1 }, output: { 'a.b': { method: 'locf' } } } }), [
    documents[0],
    { _id: 2, a: { c: 2, b: 1 } },
    { _id: 3, a: { b: 1 } },
    documents[3]
  ])
})

test('a malformed $fill is refused before anything is read', () => {
  const output = { v: { method: 'locf' } }
  const linear = { v: { method: 'linear' } }
  return refusesStages(
    [],
    [
      [{ $fill: 'v' }, 'BadValue', /must be an object, not string/],
      [{ $fill: {} }, 'BadValue', /an empty one/],
      [{ $fill: { output: { a: { value: 1 }, 'a.b': { value: 2 } } } }, 'BadValue', /'a' and 'a\.b' conflict/],
      [{ $fill: { sortBy: { a: 1 } } }, 'BadValue', /output must be an object, not undefined/],
      [{ $fill: { output: {} } }, 'BadValue', /output must be an object, not an empty one/],
      [{ $fill: { output, by: 1 } }, 'FailedToParse', /no option 'by'/],
      [{ $fill: { output: { v: 'locf' } } }, 'FailedToParse', /output for 'v' must be \{ value \} or \{ method \}/],
      [{ $fill: { output: { v: {} } } }, 'FailedToParse', /output for 'v'/],
      [{ $fill: { output: { v: { method: 'locf', value: 1 } } } }, 'FailedToParse', /output for 'v'/],
      [{ $fill: { output: { v: { methods: 'locf' } } } }, 'FailedToParse', /output for 'v'/],
      [{ $fill: { output: { $v: { value: 1 } } } }, 'BadValue', /has the invalid component '\$v'/],
      [{ $fill: { output: { v: { method: 'last' } } } }, 'BadValue', /must be 'locf' or 'linear', not 'last'/],
      [{ $fill: { output: { v: { method: 1 } } } }, 'BadValue', /not number/],
      [{ $fill: { output: { v: { value: { $nope: 1 } } } } }, 'InvalidPipelineOperator', /no operator \$nope/],
      [{ $fill: { output, partitionBy: '$a', partitionByFields: ['a'] } }, 'FailedToParse', /cannot be combined/],
      [{ $fill: { output, partitionBy: 'a' } }, 'BadValue', /a path that begins with \$/],
      [{ $fill: { output, partitionBy: 1 } }, 'BadValue', /a path that begins with \$/],
      [{ $fill: { output, partitionByFields: 'a' } }, 'BadValue', /an array of paths, not string/],
      [{ $fill: { output, partitionByFields: ['$a'] } }, 'BadValue', /has the invalid component '\$a'/],
      [{ $fill: { output, sortBy: 'a' } }, 'BadValue', /an object, not string/],
      [{ $fill: { output, sortBy: { a: 'up' } } }, 'BadValue', /'a'/],
      [{ $fill: { output, sortBy: { $natural: 1 } } }, 'BadValue', /\$natural/],
      [{ $fill: { output: linear } }, 'BadValue', /'linear' of 'v' needs a sortBy of one field, not 0/],
      [{ $fill: { output: linear, sortBy: { a: 1, b: 1 } } }, 'BadValue', /one field, not 2/]
    ]
  )
})

test('values that a method cannot handle are errors', async () => {
  const linear = { $fill: { sortBy: { at: 1 }, output: { v: { method: 'linear' } } } }
  const parted = { $fill: { partitionBy: '$p', output: { v: { method: 'locf' } } } }
  await refusesStages([{ at: 1, v: 'x' }], [[linear, 'BadValue', /linear takes numbers, .* 'v' is of type string/]])
  await refusesStages([{ v: 1 }], [[linear, 'BadValue', /numbers or dates to sort by, but 'at' is missing/]])
  await refusesStages([{ at: 'x', v: 1 }], [[linear, 'BadValue', /'at' is string/]])
  await refusesStages([{ at: 1 }, { at: 1n }], [[linear, 'BadValue', /'at' has duplicates/]])
  await refusesStages([{ at: 1 }, { at: day(1) }], [[linear, 'BadValue', /mixes numbers and dates/]])
  await refusesStages([{ p: [1] }], [[parted, 'BadValue', /partitionBy must not evaluate to an array/]])
  // Another partition may contain the same value.
  const $fill = { ...linear.$fill, partitionBy: '$p' }
  assert.is((await over([{ at: 1 }, { at: 1, p: 2 }], { $fill })).length, 2)
})

test('methods hold all documents, values hold none', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 110 }, (_, n) => ({ n, text: 'x'.repeat(2 ** 20) })))
  const error = await rejects(
    db.aggregate([{ $fill: { output: { v: { method: 'locf' } } } }]).toArray(),
    'QueryExceededMemoryLimit'
  )
  assert.match(error.message, '$fill (stage 0)')
  const values = [{ $fill: { output: { v: { value: 1 } } } }, { $project: { v: 1 } }]
  assert.is((await db.aggregate(values).toArray()).length, 110)
})

test.run()
