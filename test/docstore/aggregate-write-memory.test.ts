import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { aggregateMergeCases } from './aggregate-merge-cases.ts'
import { aggregateOutCases } from './aggregate-out-cases.ts'

const openEmpty = () => open('unused', { store: 'memory' })
aggregateOutCases(test, openEmpty)
aggregateMergeCases(test, openEmpty)

test.run()
