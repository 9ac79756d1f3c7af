/** Crashes at every call of a store with value filters. */
import { test } from 'uvu'
import { testCrashes } from './crash-cases.ts'

testCrashes('value filters in tables', 'value filters in side files')

test.run()
