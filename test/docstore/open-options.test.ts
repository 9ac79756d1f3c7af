/** Invalid options of a database or collection are refused by name before anything is created. */
import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type CollectionOptions, type ErrorName, type OpenOptions, open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

/** Neither numbers nor anything that should be converted to one. */
const noNumbers = ['64', true, [1], {}, Object.create(null), Symbol('s'), 5n, Number.NaN, () => 1]

const indexOptions: Readonly<Record<string, readonly unknown[]>> = {
  kind: ['bloom', 5, Object.create(null), Symbol('s')],
  segmentBits: [...noNumbers, 5, 513, 512.5, 131072, -1],
  shards: [...noNumbers, null, 5, 64.5, 0, 8256, 'many'],
  rowsPerPair: [...noNumbers, null, 0, 17, 1.5, 'many'],
  bitsPerPosting: [...noNumbers, null, 0, 257],
  rangeCodes: ['dates', 5, true, null, Object.create(null), Symbol('s')],
  hash: ['md5', 5, 5n, Symbol('s')],
  tail: ['none', 5, Object.create(null), Symbol('s')],
  cacheBytes: [...noNumbers, -1, 1.5, '64 MiB']
}

for (const [name, values] of Object.entries(indexOptions)) {
  test(`index.${name} is checked when the option is given, not at the first write`, async () => {
    await using db = await open('unused', { store: 'memory' })
    for (const value of values) {
      const index = { [name]: value } as CollectionOptions['index']
      const location = scratchPath()
      const error = await rejects(open(location, { index } as OpenOptions), 'InvalidOptions')
      assert.match(error.message, new RegExp(`^${name === 'kind' ? 'index' : name}\\b`))
      assert.is(error.details.option, name === 'kind' ? 'index' : name)
      assert.not.ok(existsSync(location))
      await rejects((async () => db.collection('other', { index } as CollectionOptions))(), 'InvalidOptions')
    }
    await db.collection('other').insertOne({ n: 1 })
    assert.is(await db.collection('other').countDocuments({ n: 1 }), 1)
  })
}

test('index options at their limits are accepted', async () => {
  for (const index of [
    { segmentBits: 512, shards: 64, rowsPerPair: 1, bitsPerPosting: 1, cacheBytes: 0 },
    { segmentBits: 65536, shards: 8192, rowsPerPair: 16, bitsPerPosting: 256, rangeCodes: 'none' },
    { shards: 'auto', rowsPerPair: 'auto', bitsPerPosting: 1.5, rangeCodes: 'all' }
  ] as const) {
    await using db = await open('unused', { store: 'memory', index })
    await db.insertOne({ n: 1 })
    assert.is(await db.countDocuments({ n: 1 }), 1)
  }
})

const others: readonly (readonly [string, ErrorName, readonly OpenOptions[]])[] = [
  ['readOnly', 'BadValue', [{ readOnly: 'no' as never }, { readOnly: 0 as never }]],
  ['sync', 'BadValue', [{ sync: 'false' as never }, { sync: 1 as never }]],
  ['createIfMissing', 'BadValue', [{ createIfMissing: 'no' as never }, { createIfMissing: 0 as never }]],
  ['errorIfExists', 'BadValue', [{ errorIfExists: 'no' as never }, { errorIfExists: 1 as never }]],
  [
    'ids',
    'InvalidOptions',
    [
      { ids: { codec: 'reversible', to: '5' as never } },
      { ids: { codec: 'reversible', to: true as never } },
      { ids: { codec: 'reversible', from: Symbol('s') as never } },
      { ids: { codec: 'reversible', to: 5n as never } }
    ]
  ],
  ['autoRebuild.deadShare', 'InvalidOptions', [{ autoRebuild: { deadShare: '0.5' as never } }]],
  [
    'autoRebuild.excess',
    'InvalidOptions',
    [{ autoRebuild: { excess: '2' as never } }, { autoRebuild: { excess: 5n as never } }]
  ]
]

for (const [name, codeName, given] of others) {
  test(`${name} is checked for its type`, async () => {
    for (const options of given) {
      const location = scratchPath()
      const error = await rejects(open(location, options), codeName)
      assert.is(error.details.option, name)
      assert.not.ok(existsSync(location))
    }
  })
}

test('null means the default of a boolean option', async () => {
  const options = { readOnly: null, sync: null, createIfMissing: null, errorIfExists: null } as never
  const location = scratchPath()
  for (let i = 1; i <= 2; i++) {
    await using db = await open(location, options)
    await db.insertOne({ _id: i })
    assert.is(await db.countDocuments(), i)
  }
})

const lsmOptions: Readonly<Record<string, unknown>> = {
  cacheSize: 'x',
  writeBufferSize: 0,
  compression: 'no',
  diskReads: 'threads',
  values: 'no',
  'values.filterBits': 0,
  'values.levels': 'some',
  'values.placement': 'elsewhere',
  'values.loading': 'never',
  'values.index': 'x'
}

for (const [name, value] of Object.entries(lsmOptions)) {
  test(`an invalid lsm.${name} is refused, and no directory is created`, async () => {
    const [key = '', within] = name.split('.')
    const lsm = { [key]: within === undefined ? value : { [within]: value } }
    const location = scratchPath()
    const { message } = await rejects(open(location, { lsm } as never), 'InvalidOptions')
    assert.match(message, name)
    assert.not.ok(existsSync(location))
    const db = await open(location, { errorIfExists: true })
    await db.close()
    await rejects(open(location, { lsm } as never), 'InvalidOptions')
  })
}

test.run()
