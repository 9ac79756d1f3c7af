import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DropRules, Verdict } from '../../src/lsm/compaction/drop-rules.ts'
import { EntryKind } from '../../src/lsm/format/entry.ts'

interface Case {
  readonly claim: string
  /** Sequence numbers of one key, newest first; negative ones are tombstones. */
  readonly versions: readonly number[]
  readonly snapshots?: readonly number[]
  /** Whether a key range of a deeper level contains the key. Default false. */
  readonly isDeeper?: boolean
  readonly kept: readonly number[]
}

const cases: readonly Case[] = [
  { claim: 'without snapshots only the newest version is kept', versions: [9, 7, 3], kept: [9] },
  { claim: 'a snapshot keeps the newest version at or below it', versions: [9, 7, 3], snapshots: [7], kept: [9, 7] },
  { claim: 'a snapshot between versions keeps the older one', versions: [9, 3], snapshots: [8], kept: [9, 3] },
  { claim: 'each snapshot keeps its version', versions: [9, 7, 5, 3, 1], snapshots: [2, 4, 8], kept: [9, 7, 3, 1] },
  { claim: 'snapshots may share a version', versions: [9, 1], snapshots: [2, 3, 4], kept: [9, 1] },
  { claim: 'snapshots newer than all versions keep no others', versions: [3, 1], snapshots: [5, 6], kept: [3] },
  { claim: 'snapshots older than all versions keep no others', versions: [9, 8], snapshots: [2], kept: [9] },
  { claim: 'a tombstone with nothing below is dropped with all it hides', versions: [-9, 7, 3], kept: [] },
  { claim: 'a tombstone is kept if a deeper level may have the key', versions: [-9, 7], isDeeper: true, kept: [-9] },
  { claim: 'a tombstone newer than a snapshot is kept', versions: [-9, 7], snapshots: [8], kept: [-9, 7] },
  { claim: 'a tombstone at a snapshot is dropped', versions: [-9, 7], snapshots: [9], kept: [] },
  { claim: 'a tombstone below the oldest snapshot is dropped', versions: [9, -7, 3], snapshots: [8, 10], kept: [9] },
  { claim: 'a hidden tombstone is always dropped', versions: [9, -7], isDeeper: true, kept: [9] },
  { claim: 'a tombstone between snapshots is kept', versions: [9, -6, 3], snapshots: [4, 7], kept: [9, -6, 3] }
]

function kept({ versions, snapshots = [], isDeeper = false }: Case): number[] {
  const key = Buffer.from('k')
  const range = { smallest: Buffer.from(isDeeper ? 'j' : 'x'), largest: Buffer.from('z'), bytes: 1 }
  const rules = new DropRules(snapshots, [[range]])
  return versions.filter((version, i) => {
    const kind = version < 0 ? EntryKind.tombstone : EntryKind.put
    return rules.judge(i === 0, key, 0, 1, Math.abs(version), kind) === Verdict.keep
  })
}

for (const example of cases) {
  test(example.claim, () => assert.equal(kept(example), example.kept))
}

test('every visible tombstone is kept while the deeper levels are unknown', () => {
  const rules = new DropRules([], undefined)
  assert.is(rules.judge(true, Buffer.from('k'), 0, 1, 5, EntryKind.tombstone), Verdict.keep)
})

test('a tombstone is kept if its key is in a range of any deeper level, both ends inclusive', () => {
  const range = (smallest: string, largest: string) => ({
    smallest: Buffer.from(smallest),
    largest: Buffer.from(largest),
    bytes: 1
  })
  const rules = new DropRules([], [[range('b', 'c'), range('f', 'g')], [], [range('e', 'e')]])
  const verdicts = Array.from('abcdefgh', (letter) => {
    const verdict = rules.judge(true, Buffer.from(letter), 0, 1, 5, EntryKind.tombstone)
    return verdict === Verdict.keep ? letter : '-'
  })
  assert.is(verdicts.join(''), '-bc-efg-')
})

test.run()
