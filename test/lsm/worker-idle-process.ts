/** Runs one flush in the compaction thread and prints its result; the process must then end by itself. */
import { workerRunner } from '../../src/lsm/compaction/worker-runner.ts'
import { jobOf, memtableOf } from './compaction-helpers.ts'

const directory = process.argv[2] ?? ''
const { tables } = await workerRunner.run({
  ...jobOf({ firstNumber: 1, memtables: [memtableOf([{ key: 'a', value: '1' }], 1)] }),
  directory
})
console.log(`tables ${tables.length}`)
