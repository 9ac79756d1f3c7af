import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { aggregateCases } from './aggregate-cases.ts'

aggregateCases(test, () => open('unused', { store: 'memory' }))

test.run()
