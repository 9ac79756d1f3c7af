import { test } from 'uvu'
import { diskSettings } from './model-settings.ts'
import { testSettings } from './model-test.ts'

testSettings(diskSettings, 15)

test.run()
