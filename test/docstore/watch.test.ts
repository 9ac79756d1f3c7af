/** Change streams on each store: what is reported, and in which order. */
import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { AsyncLevel, SlowLevel } from './odd-stores.ts'
import { scratchPath } from './scratch.ts'
import { watchCases } from './watch-cases.ts'

watchCases(test, 'lsm', () => open(scratchPath()))
watchCases(test, 'level', () => open(scratchPath(), { store: 'level' }))
watchCases(test, 'memory', () => open('unused', { store: 'memory' }))
watchCases(test, 'no synchronous reads', () => open(new AsyncLevel()))
watchCases(test, 'a slow store', () => open(new SlowLevel()))
watchCases(test, 'computed ids', () => open(scratchPath(), { ids: { codec: 'reversible', from: 0, to: 100_000 } }))
watchCases(test, 'no index', () => open(scratchPath(), { index: 'none' }))

test.run()
