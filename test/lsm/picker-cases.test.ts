import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { levelTargets } from '../../src/lsm/compaction/level-targets.ts'
import { level0Depth } from '../../src/lsm/compaction/level0-runs.ts'
import { partitionEnds } from '../../src/lsm/compaction/partition-ends.ts'
import type { CompactionLimits, Merge, Pick } from '../../src/lsm/compaction/pick.ts'
import { pickCompaction } from '../../src/lsm/compaction/picker.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { partitionsOf } from './compaction-helpers.ts'

const limits: CompactionLimits = {
  level0Trigger: 4,
  level1Bytes: 1000,
  maxFileBytes: 100,
  level0FileBytes: Number.POSITIVE_INFINITY,
  partitionDepth: 0,
  minPartitionSize: 0
}

/** `a-f` or `a-f:200` (bytes) or `a-f:200:90%` (tombstones); 100 bytes are 100 entries. */
function table(text: string, number: number): TableMeta {
  const [range = '', bytes = '100', tombstones = '0'] = text.split(':')
  const [smallest = '', largest = smallest] = range.split('-')
  const size = Number(bytes)
  return {
    number,
    bytes: size,
    smallest: Buffer.from(smallest),
    largest: Buffer.from(largest),
    smallestSequence: 1000 - number,
    largestSequence: 1000 - number,
    entries: size,
    tombstones: (size * Number.parseInt(tombstones, 10)) / 100,
    rawBytes: size
  }
}

interface Settings {
  readonly limits?: Partial<CompactionLimits>
  /** Where the last merge out of the level over its target ended. */
  readonly pointer?: string
}

/** Levels are separated by bars, tables by spaces, level 0 newest first; `pick` is in the format of `describe`. */
type Case = readonly [claim: string, levels: string, pick: string | undefined, settings?: Settings]

function versionOf(text: string) {
  let number = 0
  const levels: TableMeta[][] = Array.from({ length: 7 }, () => [])
  for (const [, level = '', tables = ''] of text.matchAll(/(\d): ([^|]+)/g)) {
    levels[Number(level)] = tables
      .trim()
      .split(' ')
      .map((part) => table(part, number++))
  }
  return { levels }
}

function pick(levels: string, settings: Settings = {}): string | undefined {
  const picked = pickCompaction(versionOf(levels), { ...limits, ...settings.limits }, stateOf(settings))
  return picked === undefined ? undefined : describe(picked)
}

function stateOf({ pointer }: Settings, running: readonly Merge[] = []) {
  return { running, pointer: () => (pointer === undefined ? undefined : Buffer.from(pointer)) }
}

/** `0→6: a b` for a move, `0: a b + 6: c ⇒ 6` for a merge. */
function describe(picked: Pick): string {
  const names = (tables: readonly TableMeta[]) =>
    tables.map(({ smallest, largest }) => [...new Set([String(smallest), String(largest)])].join('-')).join(' ')
  if (picked.kind === 'move') return `${picked.level}→${picked.toLevel}: ${names(picked.tables)}`
  const inputs = picked.inputs.map(({ level, tables }) => `${level}: ${names(tables)}`)
  return `${inputs.join(' + ')} ⇒ ${picked.outputLevel}`
}

const cases: readonly Case[] = [
  ['an empty store has nothing to merge', '', undefined],
  ['level 0 is not merged below the trigger', '0: a-z a-z a-z', undefined],
  [
    'a table of tombstones only is merged down below the trigger, with the tables it may hide entries of',
    '0: a-c:10:100% a-d:40 | 6: b:20 x:20',
    '0: a-c a-d + 6: b ⇒ 6'
  ],
  ['a table of tombstones only waits if more than one table would be written', '0: a-c:10:100% | 6: b:95', undefined],
  [
    'a table of tombstones only waits if level 0 is larger than one table',
    '0: a-c:10:100% b-y:95 | 6: b:50',
    undefined
  ],
  ['a table of tombstones only that hides nothing is dropped', '0: a-c:10:100% x-y:95', '0: a-c ⇒ 6'],
  [
    'tables full of tombstones beside each other are merged down when they free a quarter, one by one',
    '0: g-i:10:90% d-f:5:100% a-c:10:100% | 5: c:20 g-h:10 | 6: a-b:20 d-f:60 i-k:20',
    '0: a-c + 5: c + 6: a-b ⇒ 6'
  ],
  ['tombstones of level 0 stay above older entries of level 0', '0: a-c:10:100% x-z b-d:95 | 6: a-b:20', undefined],
  [
    'tombstones of level 0 go down to the deepest level that they overlap, with all between',
    '0: a-c:10:100% e-z:95 | 4: b-d:10 | 5: d:10',
    '0: a-c + 4: b-d + 5: d ⇒ 5'
  ],
  ['tombstones that free little wait in level 0', '0: a-c:10:100% x-z:95 | 6: a-b:50', undefined],
  ['tombstones of level 0 wait if the merge would be a long one', '0: a-z:2000:100% | 6: a-z:5000', undefined],
  ['a table with tombstones and values waits for the trigger', '0: a-c:10:90%', undefined],
  ['tables that overlap nothing move to the last level, several at once', '0: g-h e-f c-d a-b', '0→6: a-b c-d e-f g-h'],
  ['appended tables move to the last level, after the existing ones', '0: q r s t | 6: a-c d-p', '0→6: q r s t'],
  ['a table that overlaps others of level 0 does not move', '0: a-c b-d m n | 6: x', '0→6: m n'],
  ['a table full of tombstones is not moved to the last level', '0: a:100:90% b c d', '0→6: b c d'],
  [
    'level 0 is merged into the base level once it is as large',
    '0: a-z a-z a-z a-z | 6: a-f:150 g-z:150',
    '0: a-z a-z a-z a-z + 6: a-f g-z ⇒ 6'
  ],
  ['level 0 waits while the base level is much larger', '0: a-z a-z a-z a-z | 6: a-f:300 g-z:300', undefined],
  [
    'tables of the base level that level 0 does not overlap do not count and are not rewritten',
    '0: a-c a-c a-c a-c | 6: a-f:300 g-z:9000',
    '0: a-c a-c a-c a-c + 6: a-f ⇒ 6',
    { limits: { level1Bytes: 10_000 } }
  ],
  [
    'many runs of similar size are merged into one run',
    '0: a-z a-z a-z a-z a-z a-z a-z a-z | 6: a-z:900',
    '0: a-z a-z a-z a-z a-z a-z a-z a-z ⇒ 0'
  ],
  [
    'a run of another tier is left alone',
    '0: a-y a-y a-y a-y a-y a-y a-y a-y a-z:450 | 6: a-z:2000',
    '0: a-y a-y a-y a-y a-y a-y a-y a-y ⇒ 0',
    { limits: { level1Bytes: 10_000 } }
  ],
  [
    'only the oldest runs are merged down if all are too much for one merge',
    '0: a-v:3000 a-w:3000 a-x:3000 a-y:3000 | 6: a-z:900',
    '0: a-x a-y + 6: a-z ⇒ 6'
  ],
  [
    'tombstones count as the bytes that they free',
    '0: a-z:100:90% a-z:100:90% a-z:100:90% a-z:100:90% | 6: a-z:720',
    '0: a-z a-z a-z a-z + 6: a-z ⇒ 6'
  ],
  [
    'level 0 is merged down when its tombstones free a quarter of what is rewritten',
    '0: a-z:10:90% a-z:10:90% a-z:10:90% a-z:10:90% | 6: a-z:144',
    '0: a-z a-z a-z a-z + 6: a-z ⇒ 6'
  ],
  [
    'level 0 waits when its tombstones free less than a quarter of what is rewritten',
    '0: a-z:10:90% a-z:10:90% a-z:10:90% a-z:10:90% | 6: a-z:145',
    undefined
  ],
  [
    'a merge includes overlapping tables of the levels between, and what these overlap',
    '0: d-e:900 d-e:900 d-e:900 d-e:900 | 3: e-m:50 | 4: l-s:50 | 6: a-b r-t',
    '0: d-e d-e d-e d-e + 3: e-m + 4: l-s + 6: r-t ⇒ 6',
    { limits: { level1Bytes: 10_000 } }
  ],
  [
    'runs of level 0 are counted by partition',
    '0: !a!1-!a!5 !b!1-!b!5 !a!2-!a!6 !b!2-!b!6 !a!1-!a!9 !b!3-!b!4',
    undefined,
    { limits: { partitionDepth: 1 } }
  ],
  [
    'a merge takes only the tables of its partition',
    '0: !b!1-!b!5 !a!1-!a!5 !a!2-!a!6 !a!1-!a!9 !a!3-!a!4 | 6: !a!1-!a!8 !b!0-!b!9',
    '0: !a!1-!a!5 !a!2-!a!6 !a!1-!a!9 !a!3-!a!4 + 6: !a!1-!a!8 ⇒ 6',
    { limits: { partitionDepth: 1 } }
  ],
  [
    'a level over its target gives up the table that overlaps least',
    '5: a-c:400 d-f:400 g-i:400 | 6: a-b:900 c-d:900 e-f:900 g-h:900 i-k:500',
    '5: g-i + 6: g-h i-k ⇒ 6'
  ],
  [
    'of tables that overlap equally, the first one after the pointer is merged',
    '5: a-c:400 d-f:400 g-i:400 | 6: a-c:900 d-f:900 g-i:900 x:2000',
    '5: d-f + 6: d-f ⇒ 6',
    { limits: { maxFileBytes: 20 }, pointer: 'c' }
  ],
  [
    'a merge includes neighbours that do not raise its cost per byte',
    '5: a:400 b:400 c:400 | 6: a-b:1000 c:5000',
    '5: a b + 6: a-b ⇒ 6'
  ],
  ['a table that overlaps nothing below is moved, not merged', '5: a-c:600 d-f:600 | 6: a-c:900 x:5000', '5→6: d-f'],
  ['a level above the base level is emptied', '2: a-c | 6: a-z:500', '2→5: a-c'],
  [
    'a table is not moved into a level if it overlaps too much of the next one',
    '0: a-d e f g | 6: b-c:1500',
    '0→6: e f g'
  ],
  [
    'a table moves as deep as it can without overlaps',
    '0: a-d e-h i-l m-p | 6: b:300 f:300 k:300 o:300',
    '0→5: a-d e-h i-l m-p'
  ],
  ['tombstones wait while they free little', '5: a-c:10:90% | 6: a-c:500 x:1500', undefined],
  [
    'tombstones are merged down when they free a quarter of what is rewritten',
    '5: a-c:150:90% | 6: a-c:500 x:1500',
    '5: a-c + 6: a-c ⇒ 6'
  ],
  ['tombstones with nothing below are dropped at once', '5: a-c:10:90% | 6: x:1500', '5: a-c ⇒ 6']
]

for (const [claim, levels, expected, settings] of cases) test(claim, () => assert.is(pick(levels, settings), expected))

/** Tables of the last level, oldest first unless `ages` says otherwise (greater is newer), of at most 100 bytes each. */
type JoinCase = readonly [claim: string, tables: string, pick: string | undefined, ages?: readonly number[]]

const joinCases: readonly JoinCase[] = [
  ['eight neighbours are joined', 'a:10 b:10 c:10 d:10 e:10 f:10 g:10 h:10', '6: a b c d e f g h ⇒ 6'],
  ['seven neighbours are not joined', 'a:10 b:10 c:10 d:10 e:10 f:10 g:10', undefined],
  [
    'as many neighbours are joined as fit into one table',
    'a:10 b:10 c:10 d:10 e:10 f:10 g:10 h:10 i:10 j:5 k:10',
    '6: a b c d e f g h i j ⇒ 6'
  ],
  [
    'neighbours on both sides of a large table are not joined',
    'a:10 b:10 c:10 d:10 e:100 f:10 g:10 h:10 i:10',
    undefined
  ],
  [
    'a table larger than the others together is left out',
    'a:50 b:5 c:5 d:5 e:5 f:5 g:5 h:5 i:5',
    '6: b c d e f g h i ⇒ 6'
  ],
  [
    'a table not larger than the others together is included',
    'a:50 b:5 c:5 d:5 e:5 f:5 g:5 h:5 i:15',
    '6: a b c d e f g h i ⇒ 6'
  ],
  [
    'neighbours not written in key order are not joined, as more may come between them',
    'a:10 b:10 c:10 d:10 e:10 f:10 g:10 h:10',
    undefined,
    [1, 2, 3, 4, 2, 3, 4, 5]
  ],
  [
    'neighbours of the same age, as threads write them, are not joined',
    'a:5 b:5 c:5 d:5 e:5 f:5 g:5 h:5',
    undefined,
    Array(8).fill(0)
  ],
  [
    'tables of different partitions are not joined',
    '!a!1:10 !a!2:10 !a!3:10 !a!4:10 !b!1:10 !b!2:10 !b!3:10 !b!4:10',
    undefined
  ],
  [
    'tables on both sides of a partition are not joined',
    '!1:10 !2:10 !3:10 !4:10 !5!1:10 !6:10 !7:10 !8:10 !9:10',
    undefined
  ]
]

for (const [claim, tables, expected, ages] of joinCases) {
  test(`small tables of the last level: ${claim}`, () => assert.is(pickOfAges(6, tables, ages), expected))
}

test('small tables are joined only within a partition, even if a table of level 0 spans several', () => {
  const levels = '0: !a!1-!c!9 !b!5 !c!5 | 6: !a!1:10 !a!2:10 !a!3:10 !b!1:10 !b!2:10 !b!3:10 !c!1:10 !c!2:10 !c!3:10'
  assert.is(pickOfAges(6, levels), undefined)
  const ofOne = '0: !a!1-!b!9 !b!5 | 6: !a!1:10 !b!1:10 !b!2:10 !b!3:10 !b!4:10 !b!5:10 !b!6:10 !b!7:10 !b!8:10'
  assert.is(pickOfAges(6, ofOne), '6: !b!1 !b!2 !b!3 !b!4 !b!5 !b!6 !b!7 !b!8 ⇒ 6')
})

const sharing = { limits: { partitionDepth: 1, minPartitionSize: 1000 } }

test('small partitions that share tables have levels in common: level 0 is not merged into all that they have', () => {
  const last = 'abcdefghijklmnopqrst'.split('').map((name) => `!${name}!1-!${name}x!9:200`)
  const levels = `0: !a!1-!t!9 !a!1-!t!9 !a!1-!t!9 !a!1-!t!9 | 5: !a!2-!b!1:200 !k!1-!l!1:100 | 6: ${last.join(' ')}`
  const names = '0: !a!1-!t!9 !a!1-!t!9 !a!1-!t!9 !a!1-!t!9 + 5: !a!2-!b!1 !k!1-!l!1 ⇒ 5'
  assert.is(pick(levels, sharing), names)
})

test('a large partition between small ones is merged by itself', () => {
  const flushes = (tables: string) => Array(4).fill(tables).join(' ')
  assert.is(
    pick(`0: ${flushes('!a!1-!b!9 !m!1-!m!9:400 !y!1-!z!9')} | 6: !a!2-!b!1:100 !m!1-!m!5:1000 !x!1-!z!1:100`, sharing),
    '0: !a!1-!b!9 !a!1-!b!9 !a!1-!b!9 !a!1-!b!9 + 6: !a!2-!b!1 ⇒ 6'
  )
  assert.is(
    pick(`0: ${flushes('!m!1-!m!9:400')} | 6: !a!2-!b!1:100 !m!1-!m!5:1000`, sharing),
    '0: !m!1-!m!9 !m!1-!m!9 !m!1-!m!9 !m!1-!m!9 + 6: !m!1-!m!5 ⇒ 6'
  )
})

test('small tables of small partitions are joined, up to the next large one', () => {
  const tables = '!a!1:10 !b!1:10 !c!1:10 !d!1:10 !e!1:10 !f!1:10 !g!1:10 !h!1:10'
  const joined = '6: !a!1 !b!1 !c!1 !d!1 !e!1 !f!1 !g!1 !h!1 ⇒ 6'
  assert.is(pickOfAges(6, tables), undefined)
  assert.is(pickOfAges(6, `${tables} !i!1:10`, undefined, sharing), `${joined.replace(' ⇒', ' !i!1 ⇒')}`)
  assert.is(pickOfAges(6, `${tables} !hh!1:1000 !i!1:10`, undefined, sharing), joined)
})

test('small tables of an upper level are not joined', () => {
  assert.is(pickOfAges(5, 'a:10 b:10 c:10 d:10 e:10 f:10 g:10 h:10 | 6: x:2000'), undefined)
})

function pickOfAges(
  level: number,
  tables: string,
  ages?: readonly number[],
  settings: Settings = { limits: { partitionDepth: 1 } }
): string | undefined {
  const { levels } = versionOf(/^\d: /.test(tables) ? tables : `${level}: ${tables}`)
  levels[level] = (levels[level] ?? []).map((each, i) => {
    const age = ages?.[i] ?? i
    return { ...each, smallestSequence: 10 * age, largestSequence: 10 * age + 9 }
  })
  const picked = pickCompaction({ levels }, { ...limits, ...settings.limits }, stateOf({}))
  return picked && describe(picked)
}

test('tombstones wait until no open snapshot may see what they hide', () => {
  const cleared = '0: a-c:10:100% a-d:40 | 6: b:20 x:20'
  for (const levels of [cleared, '0: a-c:10:100% x-z:95 | 6: a-b:20', '5: a-c:150:90% | 6: a-c:500 x:1500']) {
    const pickWith = (oldestSnapshot: number) =>
      pickCompaction(versionOf(levels), limits, { ...stateOf({}), oldestSnapshot })
    assert.is(pickWith(999), undefined, levels)
    assert.is(pickWith(1000)?.kind, 'merge', levels)
  }
  const level0 = '0: a-z:10:90% a-z:10:90% a-z:10:90% a-z:10:90% | 6: a-z:144'
  assert.is(pickCompaction(versionOf(level0), limits, { ...stateOf({}), oldestSnapshot: 999 }), undefined)
})

test('with movesOnly, moves are picked and merges are not', () => {
  for (const [claim, levels, expected, settings = {}] of cases) {
    const state = { ...stateOf(settings), movesOnly: true }
    const picked = pickCompaction(versionOf(levels), { ...limits, ...settings.limits }, state)
    if (expected?.includes('→')) assert.is(picked && describe(picked), expected, claim)
    else assert.is.not(picked?.kind, 'merge', claim)
  }
})

test('a pick avoids the inputs and the output range of running merges', () => {
  const { levels } = versionOf('0: a-z a-z a-z a-z | 6: a-z')
  const state = stateOf({})
  const first = pickCompaction({ levels }, limits, state)
  assert.is(first?.kind, 'merge')
  const running = { ...state, running: [first as Merge] }
  assert.is(pickCompaction({ levels }, limits, running), undefined)
  const fresh = Array.from({ length: 8 }, (_, i) => table('b-y', 100 + i))
  const [level0 = [], ...rest] = levels
  const next = pickCompaction({ levels: [[...fresh, ...level0], ...rest] }, limits, running)
  assert.is(next?.kind === 'merge' && next.outputLevel, 0, 'newer runs become one meanwhile')
  if (next?.kind === 'merge')
    for (const input of next.inputs) for (const one of input.tables) assert.ok(one.number >= 100)
})

test('level targets are computed from the bottom, and the base level is the first with a target', () => {
  const base = (bottom: number) => levelTargets([0, 0, 0, 0, 0, 0, bottom], 1000)
  assert.is(base(0).base, 6)
  assert.is(base(1000).base, 6)
  assert.is(base(1001).base, 5)
  assert.is(base(9000).bytes[5], 1000)
  assert.is(base(50_000).base, 4)
  assert.is(base(50_000).bytes[5], 5000)
  assert.is(base(50_000).bytes[4], 1000)
  assert.is(base(50_000).bytes[3], 0)
  assert.is(base(1e15).base, 1)
})

test('level0Depth() counts runs, not tables', () => {
  const tables = ['!b!1-!b!2', '!a!5-!a!6', '!a!3-!a!4', '!a!1-!a!2', '!a!1-!a!9'].map(table)
  assert.is(level0Depth(tables, 1), 2)
  assert.is(level0Depth([], 1), 0)
})

test('partitionEnds() returns the last key of each partition, in whichever level it is', () => {
  const version = versionOf('0: !a!1-!a!2 | 3: !a!0-!a!7 !b!1 | 6: !a!3 !b!0')
  assert.equal(partitionEnds(version, partitionsOf(1)).map(String), ['!a!7', '!b!1'])
  const shared = { depth: 1, minBytes: 100, own: new Set(['!a!']) }
  assert.equal(partitionEnds(version, shared).map(String), ['!a!7'], 'only of those with tables of their own')
})

test.run()
