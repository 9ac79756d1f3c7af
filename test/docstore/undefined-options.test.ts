/**
 * Options that a caller passes on without having been given them: undefined counts as absent. The type checker is half of the
 * test, since with `exactOptionalPropertyTypes` an optional property is not one that may be undefined.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type AggregateOptions,
  type BackupOptions,
  type BulkWriteOptions,
  type ChangeStreamOptions,
  type Collation,
  type CollectionOptions,
  type CompactOptions,
  type CountOptions,
  type CreateIndexesOptions,
  type CreateIndexOptions,
  type FindOneAndUpdateOptions,
  type FindOptions,
  type ImportOptions,
  type IndexOptions,
  type InsertManyOptions,
  type LsmTuning,
  type OpenOptions,
  open,
  type RebuildOptions,
  type RenameOptions,
  type TransactionOptions,
  type TuneOptions,
  type UpdateOneOptions,
  type VerifyOptions
} from '../../src/index.ts'
import type { StoreOptions, ValueOptions } from '../../src/lsm/index.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { ShardedBloom, type ShardedBloomOptions } from '../../src/sharded-bloom/standalone/index.ts'
import { scratchPath } from './scratch.ts'

/** Every option, undefined. */
type Absent<Options> = { [Option in keyof Options]-?: undefined }

const u = undefined
const read = { signal: u, maxTimeMS: u, hint: u, collation: u, let: u }
const find = { ...read, projection: u, sort: u, skip: u, limit: u } satisfies Absent<FindOptions>

const lsm = {
  compression: u,
  cacheSize: u,
  writeBufferSize: u,
  blockSize: u,
  diskReads: u,
  blockRestartInterval: u,
  maxFileSize: u,
  maxOpenFiles: u,
  keyFilterBits: u,
  level0CompactionTrigger: u,
  level0SlowdownTrigger: u,
  level0StopTrigger: u,
  level1Bytes: u,
  values: u
} satisfies Absent<LsmTuning>

const values = {
  filterBits: u,
  filterHashes: u,
  blockFilterBits: u,
  levels: u,
  placement: u,
  loading: u,
  index: u,
  treeOrder: u,
  filterMemory: u
} satisfies Absent<Omit<ValueOptions, 'extractor'>>

const index = {
  kind: u,
  segmentBits: u,
  tail: u,
  shards: u,
  rowsPerPair: u,
  bitsPerPosting: u,
  hash: u,
  rangeCodes: u,
  cacheBytes: u
} satisfies Absent<IndexOptions>

test('a database opens as without options', async () => {
  const options = {
    ids: u,
    store: u,
    lsm: u,
    createIfMissing: u,
    errorIfExists: u,
    readOnly: u,
    sync: u,
    signal: u,
    documentCacheBytes: u,
    scanThreads: u,
    index: u,
    autoRebuild: u,
    ttlIntervalSeconds: u
  } satisfies Absent<OpenOptions>
  const path = scratchPath()
  for (const given of [
    options,
    { ...options, lsm: { ...lsm, values }, index, autoRebuild: { deadShare: u, excess: u } }
  ]) {
    await using db = await open(path, given)
    const { upsertedId } = await db.updateOne({ n: 1 }, { $inc: { seen: 1 } }, { upsert: true })
    assert.is(upsertedId === null, given !== options)
  }
  await using numbered = await open('x', { store: 'memory', ids: { codec: 'reversible', from: u, to: u } })
  const { insertedId } = await numbered.insertOne({})
  assert.is(insertedId, 0)
  const ids = (await numbered.stats()).collections[0]?.ids
  const domain: number = typeof ids === 'object' ? ids.to - ids.from : 0
  assert.is(domain, 2 ** 32)
})

test('a call does what it does without options', async () => {
  await using db = await open('x', { store: 'memory' })
  const insert = { ordered: u, threads: u, signal: u } satisfies Absent<InsertManyOptions>
  await db.insertMany(
    [
      { _id: 1, s: 'a' },
      { _id: 2, s: 'A' }
    ],
    insert
  )
  const lines = { strict: u, batch: u, sourceBytes: u, threads: u, signal: u, onSkipped: u, onProgress: u }
  await db.importLines([Buffer.from('{"_id": 3, "s": "b"}')], lines satisfies Absent<ImportOptions>)
  assert.is((await db.find({}, find).toArray()).length, 3)
  const count = { ...read, skip: u, limit: u } satisfies Absent<CountOptions>
  assert.is(await db.countDocuments({ s: 'a' }, count), 1)
  const rules = { strength: u, caseLevel: u, caseFirst: u, numericOrdering: u, alternate: u, maxVariable: u }
  const collation = { ...rules, normalization: u, backwards: u } satisfies Absent<Omit<Collation, 'locale'>>
  assert.is(await db.countDocuments({ s: 'a' }, { collation: { ...collation, locale: 'en' } }), 1)
  const pipeline = { ...read, allowDiskUse: u, batchSize: u, comment: u } satisfies Absent<AggregateOptions>
  assert.equal(await db.aggregate([{ $count: 'n' }], pipeline).toArray(), [{ n: 3 }])
  const update = { ...read, upsert: u, arrayFilters: u, sort: u } satisfies Absent<UpdateOneOptions>
  assert.is((await db.updateOne({ _id: 4 }, { $set: { n: 1 } }, update)).upsertedCount, 0)
  const change = { ...update, projection: u, returnDocument: u } satisfies Absent<FindOneAndUpdateOptions>
  assert.equal(await db.findOneAndUpdate({ _id: 1 }, { $set: { s: 'c' } }, change), { _id: 1, s: 'a' })
  const one = { filter: { _id: 1 }, update: { $set: { s: 'd' } } }
  const bulk = { ordered: u, let: u, signal: u, maxTimeMS: u } satisfies Absent<BulkWriteOptions>
  const operations = [{ updateOne: { ...one, upsert: u, arrayFilters: u, collation: u, hint: u, sort: u } }]
  assert.is((await db.bulkWrite(operations, bulk)).modifiedCount, 1)
  const indexed = { unique: u, sparse: u, expireAfterSeconds: u, name: u, background: u, signal: u, onProgress: u }
  assert.is(await db.createIndex({ s: 1 }, indexed satisfies Absent<CreateIndexOptions>), 's_1')
  assert.equal(await db.createIndexes([{ key: 'n' }], { signal: u } satisfies Absent<CreateIndexesOptions>), ['n_1'])
})

test('so do those of databases and collections', async () => {
  await using db = await open(scratchPath())
  await db.insertMany(Array.from({ length: 300 }, (_, _id) => ({ _id })))
  const options = { ids: u, index: u, autoRebuild: u } satisfies Absent<CollectionOptions>
  await db.collection('a', options).insertOne({ _id: 1 })
  const renamed = await db.collection('a').rename('b', { dropTarget: u } satisfies Absent<RenameOptions>)
  assert.equal(await renamed.get(1), { _id: 1 })
  const limits = { maxTimeMS: u, signal: u } satisfies Absent<TransactionOptions>
  assert.is(await db.withTransaction((tx) => tx.countDocuments({}, read), limits), 300)
  const watch = { fullDocument: u, fullDocumentBeforeChange: u, maxBufferedBytes: u, signal: u }
  await using changes = db.watch([], watch satisfies Absent<ChangeStreamOptions>)
  assert.is(changes.closed, false)
  const job = { signal: u, onProgress: u }
  assert.equal((await db.verify(job satisfies Absent<VerifyOptions>)).problems, [])
  await db.compact(job satisfies Absent<CompactOptions>)
  await db.backup(scratchPath(), job satisfies Absent<BackupOptions>)
  assert.is((await db.index.rebuild({ ...job, threads: u } satisfies Absent<RebuildOptions>)).documents, 300)
  const tune = { ...job, sample: u, targetFpr: u, budgetBytes: u, queries: u, dryRun: u } satisfies Absent<TuneOptions>
  assert.ok((await db.index.tune(tune)).choices.length > 0)
})

test('so do those of the parts that are used alone', async () => {
  const store = {
    ...lsm,
    createIfMissing: u,
    errorIfExists: u,
    autoCompaction: u,
    partitionDepth: u,
    minPartitionSize: u,
    multithreading: u,
    fileSystem: u
  } satisfies Absent<StoreOptions>
  await using level = new LsmLevel('/x', { ...store, fileSystem: new MemoryFileSystem() })
  await level.put('a', 'b', { sync: u })
  assert.is(await level.get('a', { fillCache: u }), 'b')
  const parameters = {
    rowsPerPair: u,
    bitsPerId: u,
    counting: u,
    tail: u,
    fingerprintBits: u,
    ids: u,
    hash: u,
    seed: u
  }
  const bloom = new ShardedBloom({
    ...(parameters satisfies Absent<Omit<ShardedBloomOptions, 'shards' | 'bits'>>),
    shards: 64,
    bits: 512
  })
  bloom.add('a', [['x', 1]])
  assert.equal(bloom.query(['x', 1]).candidates(), ['a'])
  assert.is(bloom.stats({ probes: u, ids: u }).ids, 1)
})

test.run()
