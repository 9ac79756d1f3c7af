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
  return { kind: 'merge', partition: '', inputs: [{ level: 0, tables: [newer, older] }], outputLevel }
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

test.run()
