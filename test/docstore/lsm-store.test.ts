import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { databaseCases } from './database-cases.ts'
import { scratchPath } from './scratch.ts'

databaseCases(test, () => open(scratchPath(), { store: 'lsm' }))

test.run()
