import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sideFileName } from '../../src/lsm/fs/file-names.ts'
import type { ValueOptions } from '../../src/lsm/options.ts'
import { collectSections } from '../../src/lsm/value/collect-sections.ts'
import { jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import { rebuildFilters } from '../../src/lsm/value/rebuild-filters.ts'
import { TableValues } from '../../src/lsm/value/table-values.ts'
import type { Filled } from '../../src/model/filled.ts'
import { hasPair, ValueStore, valuesAt } from './value-store.ts'

/** A store of tables whose values contain the number of the table. */
async function storeOf(tables: number, options: Partial<Filled<ValueOptions>> = {}): Promise<ValueStore> {
  const store = await ValueStore.create(options)
  for (let table = 0; table < tables; table++) {
    for (let i = 0; i < 20; i++) store.put(`key ${table} ${i}`, { color: `color ${table}`, n: table * 100 + i })
    await store.flush()
  }
  return store
}

/** A view, and the numbers of the tables that are read through it. */
function counted(store: ValueStore): { readonly view: ReturnType<ValueStore['view']>; readonly read: Set<number> } {
  const read = new Set<number>()
  return { view: store.watchedView((table) => read.add(table)), read }
}

async function tablesRead(store: ValueStore, color: string): Promise<number> {
  const { view, read } = counted(store)
  const found = await store.lookup(['color', color], {}, view)
  assert.equal(
    found,
    store.scan((value) => hasPair(value, ['color', color]))
  )
  return read.size
}

for (const index of ['sliced', 'linear', 'tree'] as const) {
  test(`a lookup reads only the tables named by filters, in memory or beyond the budget (${index})`, async () => {
    for (const filterMemory of [1 << 20, 3000, 0]) {
      const store = await storeOf(40, { index, filterMemory })
      assert.is(await tablesRead(store, 'color 7'), 1)
      assert.is(await tablesRead(store, 'color 1000'), 0)
      const stats = store.values.stats()
      assert.is(stats.tables, 40)
      assert.is(stats.pending, 0)
      assert.is(stats.withoutFilter, 0)
      // The tree keeps inner nodes and samples in memory whatever the budget: leaves on disk are useless without them.
      if (index !== 'tree') assert.ok(stats.filterMemoryBytes <= filterMemory, `${stats.filterMemoryBytes} bytes`)
      if (index !== 'tree') assert.is(stats.filtered + stats.onDisk, 40)
      if (filterMemory === 0 && index !== 'tree') assert.is(stats.onDisk, 40)
      if (filterMemory === 1 << 20) assert.is(stats.filtered, 40)
    }
  })
}

test('block filters and zones use no more than the index leaves of the budget', async () => {
  const sectionBytes: number[] = []
  for (const filterMemory of [1 << 20, 12_000, 3000, 0]) {
    const store = await storeOf(40, { blockFilterBits: 10, filterMemory })
    for (let color = 0; color < 40; color++) assert.is(await tablesRead(store, `color ${color}`), 1)
    const { filterMemoryBytes, sectionMemoryBytes } = store.values.stats()
    assert.ok(filterMemoryBytes + sectionMemoryBytes <= filterMemory)
    sectionBytes.push(sectionMemoryBytes)
  }
  const [all = 0, ...less] = sectionBytes
  assert.ok(all > 12_000 / 4, 'a share of the budget would not do')
  assert.is(less[0], all)
  assert.ok(less[1]! > 0 && less[1]! < all)
  assert.is(less[2], 0)
})

test('filters of new tables are used, and those of removed tables forgotten', async () => {
  const store = await storeOf(10)
  assert.is(await tablesRead(store, 'color 3'), 1)
  await store.merge([1, 2, 3, 4, 5], store.sequence)
  assert.is(store.values.stats().tables, 10)
  assert.is(await tablesRead(store, 'color 3'), 1)
  const { tables, pending, filtered } = store.values.stats()
  assert.equal([tables, pending, filtered], [6, 0, 6])
})

test('an old view is answered from its own tables', async () => {
  const store = await storeOf(6)
  const old = store.view()
  await store.lookup(['color', 'color 2'], {}, old)
  // The merge drops overwritten versions: only the old tables have them.
  for (let i = 0; i < 5; i++) store.put(`key 2 ${i}`, { color: 'green' })
  await store.flush()
  await store.merge([1, 2, 3, 4, 7], store.sequence, true)
  assert.is((await store.lookup(['color', 'color 2'])).length, 15)
  assert.is((await store.lookup(['color', 'color 2'], {}, old)).length, 20)
  assert.is((await store.lookup(['color', 'color 5'], {}, old)).length, 20)
  assert.is(store.values.stats().tables, 3)
})

test('filters of another extractor, version, options, m or k are ignored until rebuilt, and nothing is missed', async () => {
  const { extractor } = { extractor: jsonExtractor({ fields: ['color', 'tags', 'n'], zones: ['n', 'color'] }) }
  const changes: readonly Partial<Filled<ValueOptions>>[] = [
    { extractor: { ...extractor, version: 2 } },
    { extractor: { ...extractor, name: 'another' } },
    { extractor: jsonExtractor({ fields: ['color'], zones: [] }) },
    { filterBits: 1 << 13 },
    { filterHashes: 5 }
  ]
  for (const change of changes) {
    const store = await storeOf(5)
    await store.reopen(change)
    assert.is(await tablesRead(store, 'color 3'), 5)
    assert.is(store.values.stats().withoutFilter, 5)

    const { tables, rebuilt } = await rebuildFilters(store.values, store.view())
    assert.equal([tables, rebuilt], [5, 5])
    assert.is(await tablesRead(store, 'color 3'), 1)
    assert.equal(await rebuildFilters(store.values, store.view()), { tables: 5, rebuilt: 0 })
    // The side files are found again after opening.
    await store.reopen()
    assert.is(await tablesRead(store, 'color 3'), 1)
    assert.is(store.fileSystem.list('/store').filter((name) => name.endsWith('.vf')).length, 5)
  }
})

test('rebuildFilters() writes side files for tables without filters', async () => {
  const store = await storeOf(3, { placement: 'side-file' })
  for (const { number } of store.metas) store.fileSystem.remove(`/store/${sideFileName(number)}`)
  assert.is(await tablesRead(store, 'color 1'), 3)
  assert.is((await rebuildFilters(store.values, store.view())).rebuilt, 3)
  assert.is(await tablesRead(store, 'color 1'), 1)
})

test('a damaged side file is reported and rebuilt', async () => {
  const store = await storeOf(3, { placement: 'side-file' })
  const path = `/store/${sideFileName(2)}`
  const file = store.fileSystem.open(path, 'update')
  file.write(new Uint8Array(file.size() - 20).fill(7), 20)
  file.close()
  assert.is(await tablesRead(store, 'color 2'), 2)
  assert.is(store.values.stats().damaged, 1)
  assert.is((await rebuildFilters(store.values, store.view())).rebuilt, 1)
  assert.is(await tablesRead(store, 'color 2'), 1)
  assert.is(store.values.stats().damaged, 0)
})

test('overfull filters are counted', async () => {
  const store = await storeOf(4, { filterBits: 64, filterHashes: 4 })
  await tablesRead(store, 'color 1')
  const { overfull, filtered, meanFill } = store.values.stats()
  assert.is(overfull, 4)
  assert.ok(meanFill > 0.6)
  assert.ok(filtered <= 4)
})

test('a range lookup reads only the tables named by zone maps', async () => {
  const store = await storeOf(10)
  const { view, read } = counted(store)
  const found = await store.rangeLookup('n', 305, 307, {}, view)
  assert.equal(
    found,
    store.scan((value) => valuesAt(value, 'n').some((n) => Number(n) >= 305 && Number(n) <= 307))
  )
  assert.equal([...read], [4])
  read.clear()
  assert.equal(await store.rangeLookup('n', 350, 360, {}, view), [])
  assert.is(read.size, 0)
})

test('a range lookup of a field without zone maps finds entries by reading everything', async () => {
  const store = await storeOf(3)
  store.put('here', { tags: [5] })
  assert.equal(await store.rangeLookup('tags', 5, 5), [['here', '{"tags":[5]}']])
})

test('rebuilt filters are those that the tables would be written with now', async () => {
  const store = await storeOf(4, { placement: 'side-file', blockFilterBits: 9.5 })
  await store.reopen({ blockFilterBits: 4 })
  assert.is((await rebuildFilters(store.values, store.view())).rebuilt, 4)
  for (const meta of store.metas) {
    const table = store.tables.table(meta)
    const rebuilt = new TableValues(meta, table, store.values.expected)
    for (const { name, bytes } of await collectSections(store.values, store.view(), meta, store.options, undefined)) {
      assert.equal(Buffer.from(rebuilt.section(name, table) ?? []), Buffer.from(bytes), name)
    }
  }
})

test('a table without pairs stores no filter, and is ruled out for every pair', async () => {
  const store = await storeOf(3)
  for (let i = 0; i < 20; i++) store.put(`other ${i}`, 'not an object')
  await store.flush()
  const { tables, filtered } = store.values.stats()
  assert.is(tables, filtered)
  assert.is(await tablesRead(store, 'color 1'), 1)
  assert.is(await tablesRead(store, 'color 1000'), 0)
  const withoutFilter = store.metas.filter((meta) => store.tables.table(meta).section('values.filter') === undefined)
  assert.is(withoutFilter.length, 1)
})

test('without table filters, the last level still has zone maps and block filters', async () => {
  const store = await storeOf(2, { placement: 'side-file', blockFilterBits: 10 })
  await store.merge([1, 2], store.sequence)
  for (const { number } of store.metas) store.fileSystem.remove(`/store/${sideFileName(number)}`)
  await store.reopen({ levels: 'not-last' })
  assert.is((await rebuildFilters(store.values, store.view())).rebuilt, 1)
  assert.is(await tablesRead(store, 'color 0'), 1)
  assert.is(await tablesRead(store, 'nobody'), 0)
  const { withoutFilter, tables } = store.values.stats()
  assert.equal([tables, withoutFilter], [1, 1])
  assert.is((await rebuildFilters(store.values, store.view())).rebuilt, 0)
})

test('rebuildFilters() can be aborted', async () => {
  const store = await storeOf(3)
  await store.reopen({ filterHashes: 5 })
  try {
    await rebuildFilters(store.values, store.view(), AbortSignal.abort())
    assert.unreachable()
  } catch (error) {
    assert.is((error as { code?: string }).code, 'LEVEL_ABORTED')
  }
})

test.run()
