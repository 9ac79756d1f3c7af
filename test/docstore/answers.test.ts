import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/index.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { checkAnswers } from '../support/answer-check.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()

test('any filter finds exactly what a scan finds, through every state of the index', async () => {
  const documents: Document[] = [...generateTweets({ count: 3000, seed })]
  const { stages } = await checkAnswers(documents, { queries: 120, seed, segmentBits: 1024 })
  assert.ok(stages.every((stage) => stage.sealed >= 1))
  assert.ok(stages.every((stage) => stage.hits > 0))
})

test('the same holds while the first segment is open and its parameters are chosen again', async () => {
  const documents: Document[] = [...generateTweets({ count: 2500, seed: seed + 1 })]
  await checkAnswers(documents, { queries: 100, seed: seed + 1 })
})

test.run()
