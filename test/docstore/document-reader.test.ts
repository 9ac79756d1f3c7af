import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type DocumentIterator, type DocumentRange, DocumentReader } from '../../src/docstore/read/document-reader.ts'

const width = 8
const key = (ordinal: number): string => String(ordinal).padStart(width, '0')

/** A store with a document at every ordinal for which `exists` is true, and a count of its open iterators. */
async function storeOf(count: number, exists: (ordinal: number) => boolean) {
  const store = new MemoryLevel<string, string>()
  const ordinals = Array.from({ length: count }, (_, ordinal) => ordinal).filter(exists)
  await store.batch(ordinals.map((ordinal) => ({ type: 'put' as const, key: key(ordinal), value: `d${ordinal}` })))
  const counter = { open: 0, most: 0 }
  const iterate = ({ from, to, reverse = false }: DocumentRange): DocumentIterator => {
    const iterator = store.iterator({ gte: key(from), lt: key(to), reverse })
    counter.most = Math.max(counter.most, ++counter.open)
    const close = iterator.close.bind(iterator)
    iterator.close = () => {
      counter.open--
      return close()
    }
    return iterator as unknown as DocumentIterator
  }
  return { ordinals, counter, iterate }
}

async function readAll(reader: DocumentReader): Promise<string[]> {
  const records: string[] = []
  for (let run = await reader.next(); run.length > 0; run = await reader.next()) {
    for (const [, record] of run) records.push(record)
  }
  return records
}

const toOrdinal = (bytes: Uint8Array): number => Number(String(bytes))

const inBlocks = { blocksAhead: 3, isSparse: false }

for (const reverse of [false, true]) {
  test(`documents come in the order of the range${reverse ? ', from its end' : ''}, across any gaps`, async () => {
    const { ordinals, counter, iterate } = await storeOf(30_000, (i) => i % 3 === 0 && (i < 4000 || i > 21_000))
    for (const [from, to] of [
      [0, 30_000],
      [1, 2],
      [3, 4],
      [5, 5],
      [100, 21_500],
      [29_000, 30_000]
    ] as const) {
      const expected = ordinals.filter((ordinal) => ordinal >= from && ordinal < to).map((ordinal) => `d${ordinal}`)
      if (reverse) expected.reverse()
      for (const layout of [inBlocks, { blocksAhead: 1, isSparse: true }]) {
        assert.equal(await readAll(new DocumentReader({ from, to, reverse }, iterate, toOrdinal, layout)), expected)
      }
    }
    assert.is(counter.open, 0, 'what was read to its end is closed')
    assert.ok(counter.most <= 3)
  })
}

for (const reverse of [false, true]) {
  test(`billions of ordinals without a document are passed over at once${reverse ? ', from their end' : ''}`, async () => {
    const last = 9_007_199_254_740_000
    let iterators = 0
    const iterate = ({ from, to }: DocumentRange): DocumentIterator => {
      iterators++
      const found = [5, 6_000_000_000, last].filter((ordinal) => ordinal >= from && ordinal < to)
      if (reverse) found.reverse()
      const entries = found.map((ordinal) => [new Uint8Array(0), `d${ordinal}`])
      return { nextv: async () => entries.splice(0), close: async () => {} } as unknown as DocumentIterator
    }
    const reader = new DocumentReader({ from: 0, to: last + 1, reverse }, iterate, toOrdinal, inBlocks)
    const expected = ['d5', 'd6000000000', `d${last}`]
    assert.equal(await readAll(reader), reverse ? expected.reverse() : expected)
    assert.ok(iterators < 300, `${iterators} iterators`)
  })
}

test('closing a reader early closes its iterators, and it returns nothing more', async () => {
  const { counter, iterate } = await storeOf(20_000, () => true)
  const reader = new DocumentReader({ from: 0, to: 20_000 }, iterate, toOrdinal, inBlocks)
  assert.is((await reader.next()).length > 0, true)
  assert.ok(counter.open > 0)
  await reader.close()
  assert.is(counter.open, 0)
  assert.equal(await reader.next(), [])
})

test('an error of the store is passed on to the reader', async () => {
  const { iterate } = await storeOf(100, () => true)
  const failing = (range: DocumentRange): DocumentIterator => {
    const iterator = iterate(range)
    iterator.nextv = () => Promise.reject(new Error('the disk is gone'))
    return iterator
  }
  const reader = new DocumentReader({ from: 0, to: 100 }, failing, toOrdinal, inBlocks)
  try {
    await reader.next()
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, 'the disk is gone')
  }
  await reader.close()
})

test.run()
