/** The Nth file system call fails. */
import { test } from 'uvu'
import { testFaults } from './fault-cases.ts'

testFaults('the Nth call fails', false)

test.run()
