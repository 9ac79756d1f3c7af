import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { databaseCases } from './database-cases.ts'

databaseCases(test, () => open('unused', { store: 'memory' }))

test.run()
