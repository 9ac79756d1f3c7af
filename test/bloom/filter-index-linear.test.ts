import { test } from 'uvu'
import { LinearFilterIndex } from '../../src/bloom/filter-index/linear.ts'
import { filterIndexCases } from './filter-index-cases.ts'

filterIndexCases(test, (bits) => new LinearFilterIndex(bits))

test.run()
