/** The upper level leaves few groups for an absent or rare value, and never excludes one that has it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { runSteps } from '../../src/model/time-slice.ts'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexArea, indexKey } from '../../src/sharded-bloom/records/index-keys.ts'
import { UpperLevelBuilder } from '../../src/sharded-bloom/segment/upper-level.ts'
import { IndexHarness } from '../support/index-harness.ts'

const count = 13_000

function documentAt(i: number): Document {
  return { unique: `u${i}`, pair: `p${i >> 1}`, some: [`s${i % 977}`, i], common: i % 3 }
}

function* documentsFrom(from: number, to: number): Generator<Document> {
  for (let i = from; i < to; i++) yield documentAt(i)
}

async function open(segmentDocuments: number, reopenAt?: number): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments, seed: { lo: 7, hi: 11 } })
  await harness.insert([...documentsFrom(0, reopenAt ?? count)])
  if (reopenAt !== undefined) {
    await harness.reopen()
    await harness.insert([...documentsFrom(reopenAt, count)])
  }
  return harness
}

interface Found {
  readonly candidates: readonly number[]
  /** Segments with any row that was read. */
  readonly read: number
  /** Segments that are not skipped although everything needed is in memory. */
  readonly left: number
}

async function ask(harness: IndexHarness, filter: Document): Promise<Found> {
  const { view } = harness.snapshot()
  const { bounds } = compileFilter(filter)
  const candidates: number[] = []
  let read = 0
  let left = 0
  for (let i = 0; i < view.segmentCount; i++) {
    const segment = await view.evaluate(i, bounds)
    for (let c = 0; c < segment.upperCount; c++) candidates.push(segment.ordinal(c))
    if (segment.rowsRead > 0) read++
    if (view.skip?.(i, bounds, 1) === 0) left++
    else assert.is(segment.upperCount, 0, 'nothing with candidates is passed over')
  }
  return { candidates, read, left }
}

// Groups of 128 documents, for which parts of rows are read, and of 16, for which complete rows are.
for (const segmentDocuments of [4096, 512]) {
  test(`existing values are found, and few rows are read for absent ones, in segments of ${segmentDocuments}`, async () => {
    const harness = await open(segmentDocuments)
    assert.ok(harness.index.stats().bytes.upperLevel > 0)
    const sealed = harness.index.stats().parameters.filter((segment) => segment.sealed).length
    let found = 0
    let read = 0
    let left = 0
    for (let i = 0; i < count; i += 41) {
      const { candidates } = await ask(harness, { unique: `u${i}` })
      assert.ok(candidates.includes(i), `document ${i}`)
      const both = await ask(harness, { pair: `p${i >> 1}`, unique: `u${i}` })
      assert.ok(both.candidates.includes(i))
      const either = await ask(harness, { $or: [{ unique: `u${i}` }, { unique: 'nobody' }] })
      assert.ok(either.candidates.includes(i))
      const absent = await ask(harness, { unique: `absent${i}` })
      found += absent.candidates.length
      read += absent.read
      left += absent.left
    }
    const asked = Math.ceil(count / 41)
    assert.ok(found < asked, `${found} false candidates of ${asked} absent values`)
    // Segments without an upper level are the first one, if it was never tuned, and the open one.
    // Where groups are so small that complete rows are read, nothing is examined before.
    const most = segmentDocuments === 4096 ? found : read
    assert.ok(left <= most, `${left} segments are not passed over, of ${read} with rows that were read`)
    assert.ok(read < asked * (2 + 0.6 * sealed), `${read} segments read for ${asked} values, ${sealed} sealed`)
    await harness.close()
  })
}

/** Records of one segment, by their keys. */
function recordsOf(harness: IndexHarness, area: IndexArea, first: number): Map<string, string> {
  const prefix = Buffer.from(indexKey(area, first)).toString('hex')
  const keys = harness.records.keysOf(area).filter((key) => key.startsWith(prefix))
  return new Map(keys.map((key) => [key, Buffer.from(harness.records.records.get(key) ?? []).toString('hex')]))
}

// The second segment is reopened within a group, between two groups, and more than once.
for (const reopenAt of [[5003], [4096 + 1024], [4200, 4300, 6000, 8000]]) {
  test(`a segment reopened at ${reopenAt} gets the same upper level as otherwise`, async () => {
    const straight = await open(4096)
    const reopened = await IndexHarness.open({ segmentDocuments: 4096, seed: { lo: 7, hi: 11 } })
    let from = 0
    for (const to of [...reopenAt, count]) {
      await reopened.insert([...documentsFrom(from, to)])
      await reopened.reopen()
      from = to
    }
    const expected = recordsOf(straight, IndexArea.upperLevel, 4096)
    assert.ok(expected.size > 0)
    assert.equal(recordsOf(reopened, IndexArea.upperLevel, 4096), expected)
    const [record] = recordsOf(reopened, IndexArea.segment, 4096).values()
    const content = Buffer.from(record ?? '', 'hex').subarray(0, -4)
    assert.is(JSON.parse(content.toString()).upper.unknownGroups, 0)
    await straight.close()
    await reopened.close()
  })
}

test('groups filled before a reopen are never excluded, even if their chunks are lost', async () => {
  for (const isLost of [false, true]) {
    const harness = await open(4096, 10_000)
    await harness.close()
    if (isLost) for (const key of harness.records.keysOf(IndexArea.chunkUpper)) harness.records.records.delete(key)
    await harness.open()
    await harness.insert([...documentsFrom(count, count + 2000)])
    for (let i = 0; i < count; i += 83) {
      assert.ok((await ask(harness, { unique: `u${i}` })).candidates.includes(i), `document ${i}`)
      const some = await ask(harness, { some: `s${i % 977}` })
      for (let k = i % 977; k < count; k += 977) assert.ok(some.candidates.includes(k))
    }
    await harness.close()
  }
})

test('a negation is not limited to groups', async () => {
  const harness = await open(4096)
  assert.is((await ask(harness, { unique: { $ne: 'u5' } })).candidates.length, count)
  assert.is((await ask(harness, { $nor: [{ unique: 'u5' }, { unique: 'absent' }] })).candidates.length, count)
  assert.ok((await ask(harness, { common: 1, unique: { $ne: 'u1' } })).candidates.length >= 4332)
  await harness.close()
})

/** Twice the ordinal of each candidate, plus one if certain; skipping segments as a read does, or one by one. */
async function walk(harness: IndexHarness, filter: Document, step: 1 | -1, isSkipping: boolean): Promise<number[]> {
  const { view } = harness.snapshot()
  const { bounds } = compileFilter(filter)
  const codes: number[] = []
  for (let i = 0; i < view.segmentCount; i++) {
    const at = (skipped: number): number => (step === 1 ? i + skipped : view.segmentCount - 1 - i - skipped)
    const skipped = isSkipping ? (view.skip?.(at(0), bounds, step) ?? 0) : 0
    i += skipped
    if (i === view.segmentCount) break
    const segment = await view.evaluate(at(0), bounds)
    let certain = 0
    for (let c = 0; c < segment.upperCount; c++) {
      const isCertain = segment.isCertain(c)
      if (isCertain) certain++
      codes.push(2 * segment.ordinal(c) + Number(isCertain))
    }
    assert.is(segment.lowerCount, certain)
  }
  view.close()
  return codes.sort((a, b) => a - b)
}

test('skipping segments leads to the same candidates, whether rows are in memory or not', async () => {
  const harness = await open(4096)
  const removed = Array.from({ length: 2000 }, (_, i) => 3 * i)
  await harness.remove(removed)
  const rare = { $or: [{ unique: 'u100' }, { unique: 'u3905' }] }
  const filters: Document[] = [
    { unique: 'u5002' },
    { unique: 'nobody' },
    { unique: { $in: ['u1', 'u4095', 'u4096', 'u9001', 'nobody'] } },
    { some: 's5', common: 1 },
    { common: 0, pair: 'p3000' },
    { ...rare, common: { $ne: 1 } },
    { $and: [rare, { $or: [{ common: 1 }, { unique: 'u3905' }] }] },
    { $and: [rare, { $nor: [{ unique: 'u100' }] }] },
    { $and: [rare, { $nor: [{ unique: 'u2000' }, { common: 2 }] }] },
    { some: { $gte: 4000, $lt: 4010 }, unique: 'u4005' },
    { $or: [{ unique: 'u5' }, { unique: { $ne: 'u6' } }] }
  ]
  for (const filter of filters) {
    for (const step of [1, -1] as const) {
      await harness.reopen()
      const shown = `${JSON.stringify(filter)} in steps of ${step}`
      const cold = await walk(harness, filter, step, true)
      const warm = await walk(harness, filter, step, true)
      const each = await walk(harness, filter, step, false)
      assert.equal(cold, each, shown)
      assert.equal(warm, each, shown)
      const matches = compileFilter(filter).matches
      for (let i = 0; i < count; i++) {
        const isLive = i % 3 !== 0 || i >= 6000
        if (isLive && matches(documentAt(i)))
          assert.ok(
            each.some((code) => code >> 1 === i),
            `${i} of ${shown}`
          )
      }
    }
  }
  await harness.close()
})

const memory = rowMemory()

test('restored chunks lead to the same groups, before and after documents are added', () => {
  const segmentDocuments = 4096
  const chunkDocuments = 1024
  const frames = 12
  const builder = (): UpperLevelBuilder => new UpperLevelBuilder(memory, segmentDocuments, frames)
  const hashesOf = (position: number): readonly (readonly [number, number])[] =>
    Array.from({ length: 9 }, (_, i) => [Math.imul(position * 9 + i, 0x9e3779b1), Math.imul(i + 77, position)] as const)
  const add = (upper: UpperLevelBuilder, from: number, to: number): void => {
    for (let position = from; position < to; position++) {
      for (const [lo, hi] of hashesOf(position)) upper.add(position, lo, hi)
      upper.endDocument(position)
    }
  }
  const before = builder()
  add(before, 0, 2 * chunkDocuments)
  const chunks = [0, 1].map((chunk) => runSteps(before.chunk(chunk * chunkDocuments, chunkDocuments)))
  const after = builder()
  chunks.forEach((bytes, chunk) => {
    after.restoreChunk(chunk * chunkDocuments, chunkDocuments, bytes)
  })
  for (const position of [5, 1500, 2047]) {
    for (const [lo, hi] of hashesOf(position)) assert.is(after.groups(lo, hi), before.groups(lo, hi))
  }
  add(before, 2 * chunkDocuments, 3 * chunkDocuments)
  add(after, 2 * chunkDocuments, 3 * chunkDocuments)
  for (let position = 0; position < 4 * chunkDocuments; position++) {
    for (const [lo, hi] of hashesOf(position)) assert.is(after.groups(lo, hi), before.groups(lo, hi))
  }
  assert.equal([...after.contents(3 * chunkDocuments)], [...before.contents(3 * chunkDocuments)])
  // Restored again, and stored without being asked.
  const again = builder()
  for (const chunk of [0, 1, 2]) {
    const first = chunk * chunkDocuments
    again.restoreChunk(first, chunkDocuments, runSteps(after.chunk(first, chunkDocuments)))
  }
  assert.equal([...again.contents(3 * chunkDocuments)], [...before.contents(3 * chunkDocuments)])
  for (const upper of [before, after, again]) upper.free()
})

test('a chunk can be restored after groups() was called and previous chunks were stored again', () => {
  const segmentDocuments = 4096
  const chunkDocuments = 1024
  const builder = (): UpperLevelBuilder => new UpperLevelBuilder(memory, segmentDocuments, 4)
  const pairs = Array.from({ length: 500 }, (_, i) => [Math.imul(i, 0x9e3779b1), i] as const)
  const chunkWith = (first: number): Uint8Array => {
    const upper = builder()
    for (const [lo, hi] of pairs) upper.add(first, lo, hi)
    const bytes = runSteps(upper.chunk(first, chunkDocuments))
    upper.free()
    return bytes
  }
  const after = builder()
  const groupsOfChunk = chunkDocuments / (segmentDocuments / 32)
  for (const chunk of [0, 1, 2]) {
    const first = chunk * chunkDocuments
    after.restoreChunk(first, chunkDocuments, chunkWith(first))
    for (const [lo, hi] of pairs) assert.ok((after.groups(lo, hi) >>> (chunk * groupsOfChunk)) & 1, `chunk ${chunk}`)
    if (chunk === 1) runSteps(after.chunk(0, chunkDocuments))
  }
  after.free()
})

test.run()
