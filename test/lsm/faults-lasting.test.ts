/** The Nth call to the file system fails, and all that follow. */
import { test } from 'uvu'
import { testFaults } from './fault-cases.ts'

testFaults('all calls fail from any one on', true)

test.run()
