/** Every id codec, with either tail, with and without counters, keeps the promises of standalone-cases.ts. */
import { test } from 'uvu'
import { setups, standaloneCases } from './standalone-cases.ts'

for (const setup of setups) standaloneCases(test, setup)

test.run()
