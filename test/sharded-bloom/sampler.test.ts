/** The sample is spread over the documents, bounded in memory, and counts the pairs of those it keeps. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { runSteps } from '../../src/model/time-slice.ts'
import type { Document } from '../../src/model/types.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { Sampler } from '../../src/sharded-bloom/tune/sampler.ts'

const flattener = new Flattener(createHasher('murmur'), { lo: 1, hi: 2 })

function observe(sampler: Sampler, documents: Iterable<Document>): void {
  for (const document of documents) sampler.observe(flattener.flatten(document))
}

function* many(count: number, documentAt: (i: number) => Document): Generator<Document> {
  for (let i = 0; i < count; i++) yield documentAt(i)
}

test('a value is counted once per document, however often it occurs there', () => {
  const sampler = new Sampler()
  observe(sampler, [{ a: ['x', 'x', 'y'] }, { a: 'x' }, { a: [] }])
  assert.equal(
    sampler.frequent(1).map(({ path, tag, key, count }) => [path, tag, key, count]),
    [
      ['a', 3, 'x', 2],
      ['a', 16, 3, 1],
      ['a', 3, 'y', 1],
      ['a', 16, 0, 1]
    ]
  )
  assert.is(sampler.frequent(2).length, 1)
})

test('after thinning, counts are those of the documents kept', () => {
  const sampler = new Sampler(1, 64)
  observe(
    sampler,
    many(1000, (i) => ({ n: i, parity: i % 2, phase: i < 500 ? 'early' : 'late' }))
  )
  assert.ok(sampler.size <= 64 && sampler.size > 30)
  const counts = new Map(sampler.frequent(2).map(({ key, count }) => [key, count]))
  assert.is(counts.get(0), sampler.size, 'every document kept is at a multiple of the stride')
  const early = counts.get('early') ?? 0
  assert.ok(Math.abs(early - sampler.size / 2) <= 2, `${early} of ${sampler.size} are early`)
  assert.is(sampler.frequent(1).filter(({ path }) => path === 'n').length, sampler.size, 'others are forgotten')
})

test('documents kept in a thinned sample have their pairs in order', () => {
  const sampler = new Sampler(1, 8)
  observe(
    sampler,
    many(100, (i) => ({ n: i, tags: i % 3 === 0 ? ['a', 'b', 'a'] : [], last: 'z' }))
  )
  const kept = sampler.documents().map((pairs) => pairs.map(({ key }) => key))
  const stride = Number(kept[1]![0])
  assert.equal(
    kept,
    kept.map((_, i) => ((i * stride) % 3 === 0 ? [i * stride, 3, 'a', 'b', 'z'] : [i * stride, 0, 'z']))
  )
})

test('hashed pairs per document are those without a private row, including long texts', () => {
  const sampler = new Sampler()
  observe(sampler, [
    { a: 'x', b: 1 },
    { a: 'x', b: 2, c: 'long'.repeat(100) }
  ])
  assert.equal([...runSteps(sampler.hashedPairsSteps([]))], [2, 3])
  assert.equal([...runSteps(sampler.hashedPairsSteps(sampler.frequent(2)))], [1, 2])
})

test('documents with very many pairs are counted completely, and sampled in bounded memory', () => {
  const sampler = new Sampler()
  observe(
    sampler,
    many(700, (i) => ({ v: Array.from({ length: 3000 }, (_, j) => i * 3000 + j), kind: 'big' }))
  )
  assert.ok(sampler.size >= 256, `${sampler.size} documents, enough to decide`)
  assert.ok(sampler.frequent(1).length < 600_000, `${sampler.frequent(1).length} pairs`)
  assert.ok(runSteps(sampler.hashedPairsSteps([])).every((count) => count === 3002))
})

test('the memory of a closed sampler is reused by only one other, and does not affect its sample', () => {
  const documents = [...many(3000, (i) => ({ n: i, tags: [`t${i % 7}`, `t${i % 11}`] }))]
  const told = (sampler: Sampler): unknown => [sampler.documents(), sampler.frequent(2)]
  const fresh = new Sampler()
  observe(fresh, documents)
  const expected = told(fresh)
  fresh.close()
  fresh.close()
  const [first, second] = [new Sampler(), new Sampler()]
  for (const document of documents) for (const sampler of [first, second]) observe(sampler, [document])
  assert.is.not(first.members.buffer, second.members.buffer)
  assert.equal(told(first), expected)
  assert.equal(told(second), expected)
  const { buffer } = first.members
  const [few, third] = [new Sampler(), new Sampler()]
  observe(few, documents.slice(0, 1))
  first.close()
  few.close()
  new Sampler().close()
  observe(third, documents.slice(0, 1))
  assert.is(third.members.buffer, buffer, 'the memory is kept, whoever is closed after few documents or none')
})

test.run()
