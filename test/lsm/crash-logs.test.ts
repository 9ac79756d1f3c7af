/** Crashes at every call while most writes are in logs, and with partitions. */
import { test } from 'uvu'
import { testCrashes } from './crash-cases.ts'

testCrashes('everything stays in the log', 'two partitions')

test.run()
