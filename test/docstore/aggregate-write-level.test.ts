import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { aggregateWriteCases } from './aggregate-write-cases.ts'
import { scratchPath } from './scratch.ts'

aggregateWriteCases(test, () => open(scratchPath(), { store: 'level' }))

test.run()
