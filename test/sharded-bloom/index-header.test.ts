/** Options that are not given come from the stored header, or are defaults; if others differ, the index is rebuilt. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { CheckedStore } from '../../src/sharded-bloom/records/checked-store.ts'
import { createHeader, decodeHeader, encodeHeader } from '../../src/sharded-bloom/records/index-header.ts'
import { IndexArea, indexKey } from '../../src/sharded-bloom/records/index-keys.ts'
import { IndexHarness } from '../support/index-harness.ts'

const shape = { hash: 'farmhash', segmentDocuments: 1024 } as const
const defaults = { hash: 'murmur', segmentDocuments: 65_536 } as const
const header = createHeader(shape, { lo: 1, hi: 2 })
const unused = { header: undefined, damage: undefined }

test('a header that fits the given options is used, and no options need be given', () => {
  const bytes = encodeHeader(header)
  for (const choices of [{}, shape, { hash: shape.hash }, { segmentDocuments: 1024, hash: undefined }]) {
    assert.equal(decodeHeader(bytes, choices), { shape, header, damage: undefined })
  }
})

test('a differing option causes a rebuild, and options that are not given stay', () => {
  const bytes = encodeHeader(header)
  const murmur = { ...shape, hash: 'murmur' }
  assert.equal(decodeHeader(bytes, { hash: 'murmur' }), { shape: murmur, ...unused })
  const larger = { ...shape, segmentDocuments: 2048 }
  assert.equal(decodeHeader(bytes, { segmentDocuments: 2048 }), { shape: larger, ...unused })
})

test('a damaged index is rebuilt with its own options, or with defaults if no header has them', () => {
  const damaged = encodeHeader({ ...header, isDamaged: true })
  const damage = 'Damage was found while the index was read'
  assert.equal(decodeHeader(damaged, {}), { shape, header: undefined, damage })
  const nonsense = { ...header, hash: 'other', segmentDocuments: 1000 }
  for (const text of ['', '{', 'null', '7', '[]', '{}', JSON.stringify(nonsense)]) {
    assert.equal(decodeHeader(new TextEncoder().encode(text), {}), { shape: defaults, ...unused }, text)
  }
  assert.equal(decodeHeader(undefined, {}), { shape: defaults, ...unused })
  assert.equal(decodeHeader(undefined, shape), { shape, ...unused })
})

for (const isDamaged of [false, true]) {
  test(`an index that ${isDamaged ? 'is damaged' : 'fits'} keeps its segment size and hash by default`, async () => {
    const made = await IndexHarness.open(shape)
    await made.insert(Array.from({ length: 3000 }, (_, i) => ({ n: i % 60, v: `${i}` })))
    const { tuning } = made.index
    await made.close()
    const records = new CheckedStore(made.records)
    if (isDamaged) {
      const damaged = encodeHeader({ ...header, isDamaged })
      await records.write([{ key: indexKey(IndexArea.header), value: damaged }])
    }
    const harness = new IndexHarness({}, made.records, made.source, made.limit)
    await harness.open()
    assert.equal(harness.index.tuning, tuning)
    assert.is(harness.index.stats().recovered, isDamaged ? 3000 : 0)
    assert.is(harness.index.stats().segments, 3)
    await harness.check([compileFilter({ n: 7 }), compileFilter({ v: '2999' }), compileFilter({ n: { $gt: 50 } })])
    await harness.insert([{ n: 7, v: 'new' }])
    await harness.reopen()
    assert.is(harness.index.stats().recovered, 0)
    await harness.check([compileFilter({ n: 7 })])
    await harness.close()
  })
}

test.run()
