import { test } from 'uvu'
import { levelSettings } from './model-settings.ts'
import { testSettings } from './model-test.ts'

testSettings(levelSettings, 70)

test.run()
