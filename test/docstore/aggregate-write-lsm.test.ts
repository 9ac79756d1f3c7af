import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { aggregateMergeCases } from './aggregate-merge-cases.ts'
import { aggregateOutCases } from './aggregate-out-cases.ts'
import { scratchPath } from './scratch.ts'

const openEmpty = () => open(scratchPath(), { store: 'lsm' })
aggregateOutCases(test, openEmpty)
aggregateMergeCases(test, openEmpty)

test.run()
