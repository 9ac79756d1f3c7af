import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { databaseCases } from './database-cases.ts'
import { AsyncLevel } from './odd-stores.ts'

databaseCases(test, () => open(new AsyncLevel()))

test.run()
