import { test } from 'uvu'
import { open } from '../../src/index.ts'
import { aggregateCases } from './aggregate-cases.ts'
import { scratchPath } from './scratch.ts'

aggregateCases(test, () => open(scratchPath()))

test.run()
