/** The private rows of an open segment hold exactly what was added, whenever they are read, stored or restored. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { ScratchArena } from '../../src/sharded-bloom/records/scratch-arena.ts'
import { wholePart } from '../../src/sharded-bloom/segment/and-groups.ts'
import { type Geometry, geometryOf, sealedRowBytes } from '../../src/sharded-bloom/segment/geometry.ts'
import { maxKeptRows } from '../../src/sharded-bloom/segment/kept-rows.ts'
import { PrivateRows, sealedRowsAtOnce } from '../../src/sharded-bloom/segment/private-rows.ts'
import { frameBytes } from '../../src/sharded-bloom/segment/row-cache.ts'
import { testSeed } from '../support/arbitraries.ts'
import { numbersBelow } from '../support/random.ts'
import { storedRow } from '../support/stored-row.ts'

const seed = testSeed()
const memory = rowMemory()
const whole = wholePart(frameBytes)
const damaged = (what: string): Error => new Error(what)

/** Rows, and what they must hold. */
class Model {
  readonly geometry: Geometry
  rows: PrivateRows
  readonly expected: Uint32Array[]
  documents = 0
  readonly #below: (below: number) => number

  constructor(segmentDocuments: number, slots: number, start: number) {
    this.geometry = geometryOf(segmentDocuments)
    this.rows = new PrivateRows(memory, this.geometry, slots)
    this.expected = Array.from({ length: slots }, () => new Uint32Array(2048))
    this.#below = numbersBelow(start)
  }

  addSlot(): void {
    this.rows.addSlot()
    this.expected.push(new Uint32Array(2048))
  }

  /** A slot is in all documents, most, half, few, one in thousands, or none. */
  addDocument(): void {
    const slots: number[] = []
    this.rows.beginDocument()
    if (this.#below(700) === 0) this.addSlot()
    this.expected.forEach((_, slot) => {
      const kind = slot % 11
      const isMember =
        kind === 0 ||
        (kind === 1 && this.#below(100) > 0) ||
        (kind === 2 && this.#below(2) === 0) ||
        (kind < 9 && this.#below(4 ** (kind - 2)) === 0) ||
        (kind === 9 && this.documents >= 1500 && this.documents < 4000)
      if (isMember) slots.push(slot)
    })
    for (const slot of slots) this.expected[slot]![this.documents >>> 5]! |= 1 << (this.documents & 31)
    if (this.#below(3) === 0) for (const slot of slots) this.rows.add(slot)
    else
      this.rows.addAll(
        Int32Array.from([...slots, ...slots.slice(0, 3), 12345]),
        slots.length + Math.min(3, slots.length)
      )
    this.rows.endDocument()
    this.documents++
  }

  check(): void {
    for (const slot of this.expected.keys()) this.checkRow(slot)
  }

  checkRow(slot: number): void {
    const { chunkDocuments, chunkRowBytes } = this.geometry
    const words = (Math.ceil(this.documents / chunkDocuments) * chunkRowBytes) / 4
    const row = memory.push(frameBytes)
    this.rows.writeRow(slot, row, whole)
    const found = memory.u32.slice(row >>> 2, (row >>> 2) + words)
    memory.pop(row)
    const isSame = found.every((word, i) => word === this.expected[slot]![i])
    if (!isSame) assert.unreachable(`row ${slot} at ${this.documents}`)
    this.#checkPart(slot, words)
  }

  /** Compares a part of the row, written over other content. */
  #checkPart(slot: number, words: number): void {
    if (words === 0) return
    const from = 4 * this.#below(words / 4)
    const length = 4 * (1 + this.#below((words - from) / 4))
    const row = memory.push(frameBytes)
    memory.u8.fill(0xaa, row, row + frameBytes)
    this.rows.writeRow(slot, row, { groups: 0, from: 4 * from, length: 4 * length })
    const at = (row >>> 2) + from
    const found = memory.u32.slice(at, at + length)
    memory.pop(row)
    const isSame = found.every((word, i) => word === this.expected[slot]![from + i])
    if (!isSame) assert.unreachable(`words ${from} to ${from + length} of row ${slot} at ${this.documents}`)
  }

  /** The record of a chunk as described in row-codec.ts. */
  record(chunk: number, documents: number): Uint8Array {
    const { chunkDocuments, chunkRowBytes } = this.geometry
    const from = (chunk * chunkDocuments) / 32
    return Uint8Array.from(
      this.expected.flatMap((words) => {
        const row = storedRow(words.slice(from, from + chunkRowBytes / 4), documents, chunkRowBytes)
        return [row.length & 0xff, row.length >>> 8, ...row]
      })
    )
  }

  checkChunks(): Uint8Array[] {
    const { chunkDocuments } = this.geometry
    const records: Uint8Array[] = []
    for (let chunk = 0; chunk * chunkDocuments < this.documents; chunk++) {
      const documents = Math.min(chunkDocuments, this.documents - chunk * chunkDocuments)
      records.push(this.rows.encodeChunk(chunk, documents, new ScratchArena()))
      assert.equal(records[chunk], this.record(chunk, documents), `chunk ${chunk} at ${this.documents}`)
      if (documents === 1) continue
      const fewer = this.rows.encodeChunk(chunk, documents - 1, new ScratchArena())
      assert.equal(fewer, this.record(chunk, documents - 1))
    }
    return records
  }

  checkSealed(): void {
    const rowBytes = sealedRowBytes(this.documents)
    for (let from = 0; from < this.expected.length; from += sealedRowsAtOnce) {
      const to = Math.min(from + sealedRowsAtOnce, this.expected.length)
      const rows = this.rows.encode(from, to, rowBytes, new ScratchArena())
      assert.equal(
        rows,
        this.expected.slice(from, to).map((words) => storedRow(words, this.documents, rowBytes)),
        `rows from ${from} at ${this.documents}`
      )
    }
  }

  /** Stores and restores the rows, as closing and opening does. */
  reopen(): void {
    const { chunkDocuments } = this.geometry
    const records = this.checkChunks()
    this.rows.free()
    this.rows = new PrivateRows(memory, this.geometry, this.expected.length)
    records.forEach((bytes, chunk) => {
      this.rows.restoreChunk(bytes, Math.min(chunkDocuments, this.documents - chunk * chunkDocuments), damaged)
    })
  }
}

for (const [segmentDocuments, slots, documents] of [
  [512, 40, 512],
  [1024, 0, 700],
  [4096, 17, 4096],
  [65_536, 70, 9000]
] as const) {
  test(`private rows agree with a model: ${documents} documents of ${segmentDocuments}, ${slots} slots at first`, () => {
    const free = memory.freeFrames
    const below = numbersBelow(seed + segmentDocuments)
    const model = new Model(segmentDocuments, slots, seed)
    while (model.documents < documents) {
      model.addDocument()
      const what = below(900)
      if (what === 0) model.check()
      else if (what === 1) model.checkChunks()
      else if (what === 2) model.checkSealed()
      else if (what === 3) model.reopen()
    }
    model.checkSealed()
    model.check()
    model.reopen()
    model.check()
    model.checkSealed()
    model.rows.free()
    assert.is(memory.freeFrames, free, 'all frames are given back')
  })
}

test('rows that are read repeatedly, more than are kept, stay right while their chunks become complete', () => {
  const free = memory.freeFrames
  const below = numbersBelow(seed)
  const model = new Model(65_536, 3 * maxKeptRows, seed)
  while (model.documents < 17_000) {
    model.addDocument()
    if (below(300) > 0) continue
    const what = below(20)
    if (what < 2) model.check()
    else if (what === 2) model.reopen()
    else if (what === 3) model.checkChunks()
    // Some slots, three times: read for the first time, kept, and read where they are kept.
    const first = below(2 * maxKeptRows)
    for (let time = 0; time < 3; time++) for (let slot = first; slot < first + 9; slot++) model.checkRow(slot)
  }
  // It may just have been reopened.
  model.addDocument()
  for (let time = 0; time < 3; time++) for (let slot = 0; slot < maxKeptRows; slot++) model.checkRow(slot)
  assert.ok(free - memory.freeFrames > maxKeptRows, 'rows are kept')
  model.rows.free()
  assert.is(memory.freeFrames, free, 'all frames are given back')
})

test('no row is kept while row memory is short', () => {
  const taken: number[] = []
  const model = new Model(4096, 3, seed)
  while (model.documents < 4096) model.addDocument()
  while (memory.freeFrames > 8) taken.push(memory.allocate())
  try {
    for (let time = 0; time < 3; time++) model.check()
    assert.is(memory.freeFrames, 8)
  } finally {
    for (const address of taken) memory.free(address)
    model.rows.free()
  }
})

test('a truncated record, or one whose rows are malformed, is damage', () => {
  const geometry = geometryOf(512)
  const rows = new PrivateRows(memory, geometry, 2)
  assert.throws(
    () => rows.restoreChunk(Uint8Array.of(1, 0, 0, 9, 0, 2), 100, damaged),
    /private row 1 of a chunk is truncated/
  )
  for (const row of [[9], [2, 1], [3, 0x80], [3, 100], [4, 0xff, 0xff, 0x7f], []]) {
    const broken = new PrivateRows(memory, geometry, 2)
    broken.restoreChunk(Uint8Array.of(1, 0, 0, row.length, 0, ...row), 100, damaged)
    const scratch = memory.scratch
    const at = memory.push(frameBytes)
    broken.writeRow(0, at, whole)
    assert.throws(() => broken.writeRow(1, at, whole), /private row 1 is unreadable/)
    memory.pop(at)
    assert.throws(() => broken.encode(0, 2, 64, new ScratchArena()), /private row 1 is unreadable/)
    assert.throws(() => broken.beginDocument(), /private row 1 of a chunk is unreadable/)
    assert.is(memory.scratch, scratch)
    broken.free()
  }
})

test.run()
