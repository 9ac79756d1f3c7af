import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Merge } from '../../src/lsm/compaction/pick.ts'
import { resolveOptions } from '../../src/lsm/engine/resolve-options.ts'
import { mergeJob } from '../../src/lsm/engine/table-jobs.ts'
import { Version } from '../../src/lsm/version/version.ts'
import { tableOf } from './version-helpers.ts'

const [oldest, older, newer] = [tableOf(1, 'a', 'z'), tableOf(2, 'a', 'm'), tableOf(3, 'b', 'n')]
const below = [tableOf(4, 'a', 'c'), tableOf(5, 'd', 'f'), tableOf(6, 'x', 'z')]
const version = new Version([[newer, older, oldest], [], [], below])
const options = resolveOptions({})

function mergeInto(outputLevel: number): Merge {
  return { kind: 'merge', group: '', inputs: [{ level: 0, tables: [newer, older] }], outputLevel }
}

test('a merge within level 0 keeps every tombstone, as an older run may hold versions it hides', () => {
  assert.is(mergeJob('/db', mergeInto(0), version, [], options).deeper, undefined)
})

test('a merge into a lower level checks tombstones against all levels below its output', () => {
  const { deeper } = mergeJob('/db', mergeInto(2), version, [], options)
  assert.equal(
    deeper?.map((ranges) => ranges.map(({ smallest, largest }) => `${smallest}-${largest}`)),
    [['a-c', 'd-f'], [], [], []]
  )
})

test('a merge of small partitions ends a table where a large one lies between them, of which it has no key', () => {
  const small = [tableOf(1, '!a!1', '!d!9'), tableOf(2, '!a!1', '!d!9')]
  const large = { ...tableOf(3, '!b!1', '!b!9'), rawBytes: 5000 }
  const shared = { ...tableOf(4, '!c!1', '!d!1'), rawBytes: 5000 }
  const levels = new Version([small, [], [], [], [], [], [large, shared]])
  const merge: Merge = { kind: 'merge', group: '!a!', inputs: [{ level: 0, tables: small }], outputLevel: 0 }
  const sharing = resolveOptions({ partitionDepth: 1, minPartitionSize: 5000 })
  assert.equal(mergeJob('/db', merge, levels, [], sharing).endAfter.map(String), ['!b!9'])
  assert.equal(mergeJob('/db', merge, levels, [], { ...sharing, minPartitionSize: 0 }).endAfter, [])
})

test.run()
