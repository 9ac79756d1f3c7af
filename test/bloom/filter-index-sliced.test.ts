import { test } from 'uvu'
import { SlicedFilterIndex } from '../../src/bloom/filter-index/sliced.ts'
import { filterIndexCases } from './filter-index-cases.ts'

filterIndexCases(test, (bits) => new SlicedFilterIndex(bits))

test.run()
