/** Which candidate is chosen, by cases; the policy alone, without an index. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { candidateGrid } from '../../src/sharded-bloom/tune/candidates.ts'
import {
  type Contender,
  choose,
  frontierOf,
  type Goal,
  type Ground,
  shortlist
} from '../../src/sharded-bloom/tune/policy.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'

/** Bytes per document, false positives per million documents, reads per million. */
const contender = (bytes: number, perMillion: number, reads = 100): Contender => ({
  bytesPerDocument: bytes,
  falsePositiveRate: perMillion / 1e6,
  reads
})

const target = (perMillion: number): Goal => ({ targetFpr: perMillion / 1e6 })
const budget = (bytesPerDocument: number): Goal => ({ bytesPerDocument })
const both = (perMillion: number, bytesPerDocument: number): Goal => ({ ...target(perMillion), bytesPerDocument })

interface Case {
  readonly claim: string
  readonly contenders: readonly Contender[]
  readonly goal: Goal
  readonly present?: number
  readonly taken: number
  readonly ground: Ground
}

const ladder = [contender(100, 1), contender(80, 10), contender(60, 100), contender(40, 1000)]

const cases: readonly Case[] = [
  {
    claim: 'with a target, the smallest candidate that meets it is chosen',
    contenders: ladder,
    goal: target(100),
    taken: 2,
    ground: 'smallest'
  },
  {
    claim: 'a candidate that misses the target narrowly is not chosen',
    contenders: ladder,
    goal: target(99),
    taken: 1,
    ground: 'smallest'
  },
  {
    claim: 'if no candidate meets the target, the most exact is chosen',
    contenders: ladder,
    goal: target(0.1),
    present: 3,
    taken: 0,
    ground: 'target-missed'
  },
  {
    claim: 'with a budget, the most exact candidate within it is chosen',
    contenders: ladder,
    goal: budget(79),
    taken: 2,
    ground: 'most-exact'
  },
  {
    claim: 'if no candidate is within the budget, the smallest is chosen',
    contenders: ladder,
    goal: budget(39),
    taken: 3,
    ground: 'budget-missed'
  },
  {
    claim: 'with both, the smallest candidate within both is chosen',
    contenders: ladder,
    goal: both(50, 90),
    taken: 1,
    ground: 'smallest'
  },
  {
    claim: 'if target and budget exclude each other, the budget is kept',
    contenders: ladder,
    goal: both(5, 70),
    taken: 2,
    ground: 'target-missed'
  },
  {
    claim: 'with both, if no candidate is within the budget, the smallest is chosen',
    contenders: ladder,
    goal: both(5, 10),
    taken: 3,
    ground: 'budget-missed'
  },
  {
    claim: 'up to a tenth more bytes are accepted for fewer reads',
    contenders: [contender(200, 1), contender(80, 10, 300), contender(87, 10, 40), contender(95, 1, 10)],
    goal: target(20),
    taken: 2,
    ground: 'smallest'
  },
  {
    claim: 'of candidates with equally many reads, the smaller one is chosen',
    contenders: [contender(200, 1), contender(85, 10, 50), contender(80, 12, 50)],
    goal: target(20),
    taken: 2,
    ground: 'smallest'
  },
  {
    claim: 'the current parameters stay if they are about as good',
    contenders: [contender(82, 10, 54), contender(80, 12, 50)],
    goal: target(20),
    taken: 0,
    ground: 'present'
  },
  {
    claim: 'the current parameters are replaced if that saves more than 3 % of the bytes',
    contenders: [contender(83, 10, 54), contender(80, 12, 50)],
    goal: target(20),
    taken: 1,
    ground: 'smallest'
  },
  {
    claim: 'the current parameters are replaced if they miss the target, however good they are otherwise',
    contenders: [contender(40, 21), contender(80, 12)],
    goal: target(20),
    taken: 1,
    ground: 'smallest'
  },
  {
    claim: 'of candidates whose rates differ by no more than chance, the smaller one is chosen',
    contenders: [contender(100, 20), contender(79, 10), contender(60, 10.9)],
    goal: budget(100),
    taken: 2,
    ground: 'most-exact'
  },
  {
    claim: 'with a budget, the current parameters stay if none are more exact',
    contenders: [contender(81, 10.5), contender(80, 10)],
    goal: budget(100),
    taken: 0,
    ground: 'present'
  }
]

for (const { claim, contenders, goal, present = 0, taken, ground } of cases) {
  test(claim, () => assert.equal(choose(contenders, goal, present), { taken, ground }))
}

test('the frontier consists of the candidates that no other one surpasses in both bytes and rate', () => {
  const contenders = [contender(50, 10), contender(40, 20), contender(45, 20), contender(60, 11), contender(60, 5)]
  assert.equal(frontierOf(contenders), [1, 0, 4])
})

test('the shortlist starts with the current parameters and the likely choice, and continues around that', () => {
  const contenders = [contender(99, 1, 999), ...ladder.slice(1), contender(79, 5, 400), contender(30, 9999)]
  const list = shortlist(contenders, target(10), 0, 4)
  assert.equal(list.slice(0, 2), [0, 1])
  assert.ok(list.includes(4), 'the neighbour in bytes')
  assert.not.ok(list.includes(5), 'the one far away')
  assert.is(new Set(list).size, 4)
})

test('the grid starts with the current parameters and contains no duplicates', () => {
  const { rangeCodes: _, ...present } = { ...checkTuning({}), rowsPerPair: 8, segmentDocuments: 65_536 }
  const grid = candidateGrid(present)
  assert.is(grid[0], present)
  assert.is(new Set(grid.map((candidate) => JSON.stringify(candidate))).size, grid.length)
  assert.is(grid.length, 6 * 5 * 3 * 2 + 3)
  const odd = candidateGrid({ ...present, bitsPerPosting: 20, shards: 256 })
  assert.is(odd.length, grid.length + 1)
  assert.ok(odd.slice(1).every(({ shards }) => shards === 'auto'))
})

test.run()
