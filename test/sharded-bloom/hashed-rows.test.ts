/** The hashed rows of an open segment hold every document's signature, while it is young and when it has grown. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAME_BYTES, RowMemory, rowMemory } from '../../src/bloom/kernels/index.ts'
import { PetalError } from '../../src/model/errors.ts'
import { type Geometry, geometryOf } from '../../src/sharded-bloom/segment/geometry.ts'
import { HashedRows, storedRowBytes } from '../../src/sharded-bloom/segment/hashed-rows.ts'
import { allGroups } from '../../src/sharded-bloom/segment/upper-level.ts'
import { testSeed } from '../support/arbitraries.ts'
import { numbersBelow } from '../support/random.ts'

const memory = rowMemory()
const seed = testSeed()

class Model {
  readonly geometry: Geometry
  readonly shards: number
  rows: HashedRows
  /** The rows that each document set. */
  readonly documents: Set<number>[] = []
  readonly #below: (below: number) => number

  constructor(segmentDocuments: number, shards: number) {
    this.geometry = geometryOf(segmentDocuments)
    this.shards = shards
    this.rows = new HashedRows(memory, this.geometry, shards)
    this.#below = numbersBelow(seed + segmentDocuments + shards)
  }

  add(): void {
    const set = new Set<number>()
    for (let i = this.#below(40); i > 0; i--) set.add(this.#below(this.shards))
    this.rows.beginDocument()
    if (this.documents.length % 2 === 0) for (const row of set) this.rows.set(row)
    else {
      const signature = new Uint32Array(this.shards / 32)
      for (const row of set) signature[row >>> 5]! |= 1 << (row & 31)
      this.rows.setSignature(signature)
    }
    this.rows.endDocument()
    this.documents.push(set)
  }

  /** Positions that have all rows, as the bits of a row. */
  #expected(rows: readonly number[], from = 0, to = this.documents.length): Uint8Array {
    const bits = new Uint8Array(FRAME_BYTES)
    for (let i = from; i < to; i++) {
      if (rows.every((row) => this.documents[i]!.has(row))) bits[(i - from) >>> 3]! |= 1 << ((i - from) & 7)
    }
    return bits
  }

  check(): void {
    const { rowBytes } = this.rows
    const out = memory.push(FRAME_BYTES)
    const found = (): Uint8Array => memory.u8.slice(out, out + rowBytes)
    for (let time = 0; time < 8; time++) {
      const rows = Array.from({ length: 1 + this.#below(3) }, () => this.#below(this.shards))
      const expected = this.#expected(rows).subarray(0, rowBytes)
      memory.u8.fill(0xaa, out, out + FRAME_BYTES)
      const isAnySet = this.rows.and(Int32Array.from(rows), out, allGroups)
      assert.equal(found(), expected, `rows ${rows} of ${this.documents.length} documents`)
      assert.is(
        isAnySet,
        expected.some((byte) => byte !== 0)
      )
      memory.u8.fill(0xaa, out, out + FRAME_BYTES)
      this.rows.copyRow(rows[0]!, out)
      assert.equal(found(), this.#expected([rows[0]!]).subarray(0, rowBytes), `row ${rows[0]}`)
    }
    assert.is(this.rows.and(Int32Array.of(0), out, 0), false, 'no group that matters')
    memory.pop(out)
  }

  /** Returns the frames that a checkpoint stores for the first `documents`, after comparing them with the model. */
  frames(documents = this.documents.length): Uint8Array[][] {
    const { chunkDocuments, rowsPerFrame } = this.geometry
    return Array.from({ length: Math.ceil(documents / chunkDocuments) }, (_, chunk) => {
      const from = chunk * chunkDocuments
      const inChunk = Math.min(chunkDocuments, documents - from)
      const rowBytes = storedRowBytes(inChunk)
      const frames = Array.from(this.rows.chunkFrames(chunk, inChunk), (frame) => frame.slice())
      assert.is(frames.length, Math.ceil(this.shards / rowsPerFrame))
      for (let time = 0; time < 20; time++) {
        const row = this.#below(this.shards)
        const frame = frames[Math.floor(row / rowsPerFrame)]!
        assert.is(frame.length, rowsPerFrame * rowBytes)
        const at = (row % rowsPerFrame) * rowBytes
        // Later documents may be in it.
        const bits = frame.subarray(at, at + Math.floor(inChunk / 8))
        assert.equal(
          bits,
          this.#expected([row], from, from + inChunk).slice(0, bits.length),
          `stored row ${row} of ${inChunk} in ${this.documents.length}`
        )
      }
      return frames
    })
  }

  reopen(): void {
    const frames = this.frames()
    this.rows.free()
    this.rows = new HashedRows(memory, this.geometry, this.shards)
    this.rows.restore(this.documents.length, frames.at(-1) ?? [])
    for (let chunk = 0; chunk < this.rows.chunkCount - 1; chunk++) {
      assert.ok(this.rows.isMissing(chunk))
      this.#checkUnknown(chunk)
      this.rows.restoreChunk(chunk, frames[chunk])
      assert.not(this.rows.isMissing(chunk))
    }
  }

  /** All documents of a missing chunk may have every pair, unless nobody asks for their groups. */
  #checkUnknown(chunk: number): void {
    const { chunkRowBytes } = this.geometry
    const out = memory.push(FRAME_BYTES)
    const at = out + chunk * chunkRowBytes
    const rows = Int32Array.of(this.#below(this.shards), this.#below(this.shards))
    const groups = this.rows.groupsOf(chunk)
    assert.ok(this.rows.and(rows, out, groups))
    assert.equal(memory.u8.slice(at, at + chunkRowBytes), new Uint8Array(chunkRowBytes).fill(0xff))
    assert.not(this.rows.and(rows, out, 0))
    this.rows.and(rows, out, ~groups)
    assert.equal(memory.u8.slice(at, at + chunkRowBytes), new Uint8Array(chunkRowBytes))
    memory.pop(out)
  }
}

for (const [segmentDocuments, shards, documents] of [
  [512, 64, 512],
  [1024, 192, 1024],
  [2048, 512, 1500],
  [65_536, 512, 9000]
] as const) {
  test(`hashed rows agree with a model: ${documents} documents of ${segmentDocuments}, ${shards} rows`, () => {
    const free = memory.freeFrames
    const below = numbersBelow(seed + 1)
    const model = new Model(segmentDocuments, shards)
    model.check()
    while (model.documents.length < documents) {
      model.add()
      const { length } = model.documents
      const isNearEdge = [1, 63, 64, 65, 1023, 1024, 1025, 4096, 4097].includes(length)
      const what = below(400)
      if (what < 2 || isNearEdge) model.check()
      if (what === 2) model.frames(1 + below(length))
      if (what === 3 || (isNearEdge && below(2) === 0)) model.reopen()
    }
    model.check()
    model.reopen()
    model.check()
    model.rows.free()
    assert.is(memory.freeFrames, free, 'all frames are given back')
  })
}

test('a young segment takes no frames, and loses nothing when there are none for it to grow', () => {
  const small = new RowMemory(2 << 20)
  const frames = small.freeFrames
  const rows = new HashedRows(small, geometryOf(65_536), 64 * 64)
  const add = (row: number): void => {
    rows.beginDocument()
    rows.set(row)
    rows.endDocument()
  }
  for (let i = 0; i < 1024; i++) add(i)
  assert.is(small.freeFrames, frames)
  assert.throws(
    () => add(1024),
    (error: unknown) => error instanceof PetalError && error.codeName === 'ExceededMemoryLimit'
  )
  assert.is(small.freeFrames, frames, 'what was taken is given back')
  const out = small.push(FRAME_BYTES)
  for (const row of [0, 500, 1023]) {
    assert.ok(rows.and(Int32Array.of(row), out, allGroups))
    assert.is(small.u8[out + (row >>> 3)], 1 << (row & 7))
  }
  rows.free()
})

test.run()
