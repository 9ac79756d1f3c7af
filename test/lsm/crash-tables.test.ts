/** Crashes at every call while memtables are flushed and tables merged. */
import { test } from 'uvu'
import { testCrashes } from './crash-cases.ts'

testCrashes('tiny memtables and tables', 'one table starts a compaction, blocks are not compressed')

test.run()
