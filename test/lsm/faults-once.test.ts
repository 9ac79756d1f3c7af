/** The Nth call to the file system fails. */
import { test } from 'uvu'
import { testFaults } from './fault-cases.ts'

testFaults('any one call fails', false)

test.run()
