import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DropRules, Verdict } from '../../src/lsm/compaction/drop-rules.ts'
import { EntryKind } from '../../src/lsm/format/entry.ts'

interface Case {
  readonly claim: string
  /** Sequence numbers of one key, newest first; negative ones are tombstones. */
  readonly versions: readonly number[]
  readonly snapshots?: readonly number[]
  /** Whether a deeper level's range contains the key. Default false. */
  readonly isDeeper?: boolean
  readonly kept: readonly number[]
}

const cases: readonly Case[] = [
  { claim: 'without snapshots only the newest version stays', versions: [9, 7, 3], kept: [9] },
  { claim: 'a snapshot keeps the newest version at or below it', versions: [9, 7, 3], snapshots: [7], kept: [9, 7] },
  { claim: 'a snapshot between versions keeps the older one', versions: [9, 3], snapshots: [8], kept: [9, 3] },
  { claim: 'each snapshot keeps its own', versions: [9, 7, 5, 3, 1], snapshots: [2, 4, 8], kept: [9, 7, 3, 1] },
  { claim: 'snapshots that see the same share it', versions: [9, 1], snapshots: [2, 3, 4], kept: [9, 1] },
  { claim: 'snapshots newer than all versions keep nothing more', versions: [3, 1], snapshots: [5, 6], kept: [3] },
  { claim: 'snapshots older than all versions keep nothing more', versions: [9, 8], snapshots: [2], kept: [9] },
  { claim: 'a tombstone with nothing below goes, with what it hides', versions: [-9, 7, 3], kept: [] },
  { claim: 'a tombstone stays while a deeper level may have the key', versions: [-9, 7], isDeeper: true, kept: [-9] },
  { claim: 'a tombstone newer than a snapshot stays', versions: [-9, 7], snapshots: [8], kept: [-9, 7] },
  { claim: 'a tombstone at a snapshot goes', versions: [-9, 7], snapshots: [9], kept: [] },
  { claim: 'a tombstone below the oldest snapshot goes', versions: [9, -7, 3], snapshots: [8, 10], kept: [9] },
  { claim: 'a hidden tombstone goes whatever is below', versions: [9, -7], isDeeper: true, kept: [9] },
  { claim: 'a tombstone between snapshots stays', versions: [9, -6, 3], snapshots: [4, 7], kept: [9, -6, 3] }
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

test('without knowing what is deeper every visible tombstone stays', () => {
  const rules = new DropRules([], undefined)
  assert.is(rules.judge(true, Buffer.from('k'), 0, 1, 5, EntryKind.tombstone), Verdict.keep)
})

test('ranges of every deeper level count, both ends inclusive', () => {
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
