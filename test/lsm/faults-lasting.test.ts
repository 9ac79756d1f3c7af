/** The Nth file system call and all later ones fail. */
import { test } from 'uvu'
import { testFaults } from './fault-cases.ts'

testFaults('all calls from the Nth on fail', true)

test.run()
