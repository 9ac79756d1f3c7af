import { test } from 'uvu'
import { valueSettings } from './model-settings.ts'
import { testSettings } from './model-test.ts'

testSettings(valueSettings, 65)

test.run()
