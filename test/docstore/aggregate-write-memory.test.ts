import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { aggregateWriteCases } from './aggregate-write-cases.ts'

aggregateWriteCases(test, () => open('unused', { store: 'memory' }))

test.run()
