import { test } from 'uvu'
import { filterSettings } from './model-settings.ts'
import { testSettings } from './model-test.ts'

testSettings(filterSettings, 65)

test.run()
