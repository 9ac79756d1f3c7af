/**
 * A tail of fingerprints, or with those of crowded documents, has each hashed pair at all of its positions and, except
 * for colliding codes, at no others: while it is filled, restored from checkpoints, and sealed.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { MurmurHasher } from '../../src/bloom/murmur-hasher.ts'
import { Type } from '../../src/model/types.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { CheckedStore } from '../../src/sharded-bloom/records/checked-store.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { ScratchArena } from '../../src/sharded-bloom/records/scratch-arena.ts'
import {
  chunkWrites,
  openSegmentRecord,
  type RestoreContext,
  restoreOpenSegment
} from '../../src/sharded-bloom/segment/checkpoint.ts'
import { type Geometry, geometryOf } from '../../src/sharded-bloom/segment/geometry.ts'
import { openPairsWrite } from '../../src/sharded-bloom/segment/open-pairs.ts'
import { OpenSegment } from '../../src/sharded-bloom/segment/open-segment.ts'
import type { HashedPair } from '../../src/sharded-bloom/segment/private-table.ts'
import { RowCache } from '../../src/sharded-bloom/segment/row-cache.ts'
import { sealSegment } from '../../src/sharded-bloom/segment/seal.ts'
import { SealedSegment } from '../../src/sharded-bloom/segment/sealed-segment.ts'
import type { HashedLocation, Segment } from '../../src/sharded-bloom/segment/segment.ts'
import { decodeSegmentRecord, encodeSegmentRecord, noBytes } from '../../src/sharded-bloom/segment/segment-record.ts'
import { allGroups } from '../../src/sharded-bloom/segment/upper-level.ts'
import { testSeed } from '../support/arbitraries.ts'
import { RecordMap } from '../support/index-harness.ts'

const seed = testSeed()
console.log(`seed ${seed}`)
const memory = rowMemory()
const hasher = new MurmurHasher()
const flattener = new Flattener(hasher, { lo: seed, hi: ~seed })
const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
const common = { privatePairs: [], columns: [] }
const tails = {
  'fingerprints of all': { ...common, shards: 0, rowsPerPair: 1, upperFrames: 0, fingerprintBits: 26 },
  'fingerprints of crowded documents': { ...common, shards: 512, rowsPerPair: 8, upperFrames: 1, crowdedPairs: 40 },
  'fingerprints of crowded documents, without an upper level': {
    ...common,
    shards: 512,
    rowsPerPair: 8,
    upperFrames: 0,
    crowdedPairs: 40
  }
}
type Tail = keyof typeof tails
const tailNames = Object.keys(tails) as Tail[]

/** The values of document i: one of its own, two that some documents share, one that most have. */
function valuesOf(i: number): number[] {
  const values = [1_000_000 + i, 2_000_000 + (i >>> 3), 3_000_000 + ((i * 7919) % 61)]
  if (i % 7 !== 3) values.push(5)
  // Documents with thousands of pairs.
  if (i % 4000 === 700) for (let k = 0; k < 3000; k++) values.push(4_000_000 + i + k)
  return values
}

function pairOf(value: number): HashedLocation {
  return { kind: 'hashed', pair: pairHash.hash({ path: 'v', tag: Type.number, key: value }) }
}

function fill(segment: OpenSegment, to: number): void {
  while (segment.documents < to) segment.add(flattener.flatten({ v: valuesOf(segment.documents) }))
}

/** Asks the segment as a view does. */
async function check(segment: Segment, documents: number): Promise<void> {
  const expected = new Map<number, number[]>()
  for (let i = 0; i < documents; i++) {
    for (const value of valuesOf(i)) {
      const positions = expected.get(value)
      if (positions === undefined) expected.set(value, [i])
      else if (positions.at(-1) !== i) positions.push(i)
    }
  }
  const asked = [
    5,
    9,
    ...[...expected.keys()].filter((_, i) => i % 11 === 0),
    ...Array.from({ length: 300 }, (_, i) => -1 - i)
  ]
  const out = memory.allocate()
  let inVain = 0
  for (const value of asked) {
    const location = pairOf(value)
    await segment.loadGroups(location)
    await segment.load(location)
    const positions = expected.get(value) ?? []
    const groups = segment.groups(location)
    for (const position of positions) {
      assert.ok(groups & (1 << Math.floor(position / segment.groupDocuments)), `group of ${position} for ${value}`)
    }
    const part = { groups: allGroups, from: 0, length: segment.rowBytes }
    memory.u8.fill(0xff, out, out + 8192)
    const isAnySet = segment.andHashed(location, out, part)
    assert.type(isAnySet, 'boolean')
    if (isAnySet === false) {
      assert.equal(positions, [], `positions of ${value}`)
      continue
    }
    for (const position of positions) {
      if ((memory.u8[out + (position >>> 3)]! & (1 << (position & 7))) === 0)
        assert.unreachable(`${value} at ${position}`)
    }
    memory.kernels.clearFrom(out, documents, segment.rowBytes)
    if (memory.kernels.popcount(out, segment.rowBytes) > positions.length) inVain++
  }
  memory.free(out)
  // With 26 bits and some 50,000 entries, one value in a thousand has the code of another, and is found where that is.
  assert.ok(inVain <= 8, `${inVain} values are found in vain of ${asked.length}`)
}

async function seal(
  segment: OpenSegment,
  store = new RecordMap()
): Promise<{ sealed: SealedSegment; store: RecordMap }> {
  const checked = new CheckedStore(store)
  const record = decodeSegmentRecord(encodeSegmentRecord(await sealSegment(segment, checked, memory, 0)))
  const onDamage = (message: string): void => {
    throw new Error(message)
  }
  const cache = new RowCache(memory, 1 << 20)
  const sealed = new SealedSegment({ memory, cache, store: checked, pairHash, onDamage }, record)
  await sealed.prepare()
  return { sealed, store }
}

function restoring(store: CheckedStore, geometry: Geometry): RestoreContext {
  return { store, memory, geometry, pairHash, onDamage: assert.unreachable, onMiss: () => {} }
}

function open(segmentDocuments: number, tail: Tail, fingerprintBits?: number): OpenSegment {
  const parameters = { ...tails[tail], ...(fingerprintBits && { fingerprintBits }) }
  return new OpenSegment(memory, geometryOf(segmentDocuments), pairHash, 0, parameters)
}

for (const tail of tailNames) {
  for (const [segmentDocuments, documents] of [
    [512, 1],
    [512, 512],
    [8192, 700],
    [8192, 5000],
    [16_384, 12_288]
  ] as const) {
    test(`open and sealed segments find all pairs: ${tail}, ${documents} documents of at most ${segmentDocuments}`, async () => {
      const before = memory.freeFrames
      const segment = open(segmentDocuments, tail)
      fill(segment, Math.floor(documents / 2))
      await check(segment, segment.documents)
      fill(segment, documents)
      await check(segment, documents)
      const { sealed, store } = await seal(segment)
      await check(sealed, documents)
      const again = await seal(segment)
      assert.equal(again.store.records, store.records)
      for (const each of [sealed, again.sealed, segment]) each.free()
      assert.is(memory.freeFrames, before)
    })
  }

  test(`a segment restored from checkpoints seals to the same bytes as one that was never closed: ${tail}`, async () => {
    const geometry = geometryOf(16_384)
    const whole = open(16_384, tail)
    fill(whole, 11_000)
    const expected = await seal(whole)
    const store = new RecordMap()
    const checked = new CheckedStore(store)
    let segment = open(16_384, tail)
    let from = 0
    // Documents that are not committed at a checkpoint are not in the record.
    for (const [added, committed] of [
      [300, 300],
      [3000, 2990],
      [5500, 5500],
      [5501, 5501],
      [9000, 8192],
      [11_000, 11_000]
    ] as const) {
      fill(segment, added)
      const room = new ScratchArena()
      for (const write of chunkWrites(segment, geometry, memory, from, committed, room)) {
        if (write !== undefined) await checked.write([write])
      }
      room.close()
      await checked.write([openPairsWrite(segment)])
      const record = openSegmentRecord(segment, committed, 0, noBytes)
      const stored = decodeSegmentRecord(encodeSegmentRecord(record))
      segment.free()
      segment = (await restoreOpenSegment(stored, restoring(checked, geometry)).catch((error: Error) =>
        assert.unreachable(error.message)
      )) as OpenSegment
      assert.is(segment.documents, committed)
      await check(segment, committed)
      from = Math.floor(committed / 4096) * 4096
    }
    const { sealed, store: records } = await seal(segment)
    const tailOf = ({ records: all }: RecordMap) =>
      [...all].filter(([key]) => ['66', '62', '72', '75'].includes(key.slice(0, 2)))
    assert.equal(tailOf(records), tailOf(expected.store))
    for (const each of [segment, whole, sealed, expected.sealed]) each.free()
  })

  test(`a missing run is damage: ${tail}`, async () => {
    const geometry = geometryOf(8192)
    const segment = open(8192, tail)
    fill(segment, 6000)
    const store = new RecordMap()
    const room = new ScratchArena()
    for (const write of chunkWrites(segment, geometry, memory, 0, 6000, room)) {
      if (write !== undefined) await new CheckedStore(store).write([write])
    }
    const record = openSegmentRecord(segment, 6000, 0, noBytes)
    const runs = store.keysOf(IndexArea.chunkFingerprints)
    assert.ok(runs.length > 1)
    for (const key of runs) {
      const broken = new RecordMap(store.records)
      broken.records.delete(key)
      try {
        const restored = await restoreOpenSegment(record, restoring(new CheckedStore(broken), geometry))
        restored.free()
        assert.unreachable(`without ${key}`)
      } catch (error) {
        assert.is((error as { codeName?: string }).codeName, 'IndexDamaged')
      }
    }
    segment.free()
  })
}

test('a bucket that spans several frames is read completely', async () => {
  // One value in all documents of the largest segment, and a few others: few buckets, thousands of positions.
  const segment = open(65_536, 'fingerprints of all', 18)
  const pairs = ['a', 'b'].map((path, i): HashedPair => pairHash.hash({ path, tag: Type.number, key: i + 1 }))
  for (let i = 0; i < 65_536; i++) segment.add(flattener.flatten(i % 3 === 0 ? { a: 1, c: 'x' } : { a: 1, b: 2 }))
  const { sealed } = await seal(segment)
  const bytes = sealed.record.fingerprints?.bytes ?? 0
  assert.ok(bytes > 2 * 8192, `${bytes} bytes`)
  const out = memory.allocate()
  for (const [pair, expected] of [
    [pairs[0]!, 65_536],
    [pairs[1]!, 43_690]
  ] as const) {
    const location: HashedLocation = { kind: 'hashed', pair }
    await sealed.loadGroups(location)
    assert.is(sealed.groups(location), allGroups)
    assert.is(sealed.andHashed(location, out, { groups: allGroups, from: 0, length: 8192 }), true)
    assert.is(memory.kernels.popcount(out, 8192), expected)
  }
  memory.free(out)
  segment.free()
  sealed.free()
})

test.run()
