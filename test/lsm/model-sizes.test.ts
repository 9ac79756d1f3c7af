import { test } from 'uvu'
import { sizeSettings } from './model-settings.ts'
import { testSettings } from './model-test.ts'

testSettings(sizeSettings, 70)

test.run()
