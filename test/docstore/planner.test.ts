import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { plan } from '../../src/docstore/read/planner.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { compileSort } from '../../src/query/sort.ts'

interface Row {
  readonly filter: unknown
  readonly sort?: unknown
  readonly hint?: 'scan' | 'index'
  readonly kind: 'ids' | 'index' | 'scan'
  readonly reverse?: boolean
}

const table: readonly Row[] = [
  { filter: {}, kind: 'scan' },
  { filter: {}, sort: { $natural: -1 }, kind: 'scan', reverse: true },
  { filter: { a: 1 }, kind: 'index' },
  { filter: { a: 1 }, sort: { a: -1 }, kind: 'index' },
  { filter: { a: 1 }, sort: { $natural: -1 }, kind: 'index', reverse: true },
  { filter: { a: 1 }, hint: 'scan', kind: 'scan' },
  { filter: { _id: 1 }, kind: 'ids' },
  { filter: { _id: { $in: [1, 2] }, a: 1 }, kind: 'ids' },
  { filter: { _id: 1 }, hint: 'index', kind: 'index' },
  { filter: { _id: 1 }, hint: 'scan', kind: 'scan' },
  { filter: { _id: { $gt: 1 } }, kind: 'index' },
  { filter: { $where: () => true }, kind: 'scan' },
  { filter: { $jsonSchema: { properties: { a: { type: 'string' } } } }, kind: 'scan' },
  { filter: { $jsonSchema: { required: ['a'] } }, kind: 'index' },
  { filter: { $jsonSchema: { required: ['_id'], properties: { _id: { enum: [1, 2] } } } }, kind: 'ids' },
  { filter: { a: { $exists: false } }, kind: 'index' }
]

for (const { filter, sort, hint, kind, reverse = false } of table) {
  const shown = `${JSON.stringify(filter)} ${JSON.stringify(sort ?? '')} ${hint ?? ''}`
  test(`${shown} is answered by ${kind}${reverse ? ', newest first' : ''}`, () => {
    const { bounds, ids } = compileFilter(filter)
    const chosen = plan({ bounds, ids, natural: compileSort(sort).natural, hint })
    assert.is(chosen.kind, kind)
    assert.is(chosen.reverse, reverse)
  })
}

test('all results of a scan without a filter are certain, unlike those of a scan with one', () => {
  const request = { ids: undefined, natural: undefined, hint: 'scan' } as const
  const everything = plan({ ...request, bounds: compileFilter({}).bounds })
  const filtered = plan({ ...request, bounds: compileFilter({ a: 1 }).bounds })
  assert.is(everything.kind === 'scan' && everything.bounds.kind, 'all')
  assert.is(filtered.kind === 'scan' && filtered.bounds.kind, 'bounds')
})

test.run()
