import { test } from 'uvu'
import { idsCases } from './ids-cases.ts'

idsCases(test, 'table')

test.run()
