/**
 * Decides which versions survive a merge. Pure: versions arrive in cursor order (by key, newest first), and the rules
 * see every version of a key that the merge has.
 *
 * Live snapshots divide time into eras: (…, s0], (s0, s1], …, (sn, now]. A reader at a snapshot sees the newest
 * version in its era, or in the nearest older era that has one.
 *
 * Invariants:
 * 1. What a reader sees of a key, at any live snapshot or at any sequence number after the newest of them, is the same
 *    before and after the merge.
 * 2. At most one version of a key survives per era.
 */
import { compareRanges, EntryKind } from '../format/entry.ts'
import type { KeyRange } from './job.ts'

/** Outcomes, named for tests and statistics. */
export const Verdict = { keep: 0, hidden: 1, uselessTombstone: 2 } as const
export type Verdict = (typeof Verdict)[keyof typeof Verdict]

export class DropRules {
  readonly #snapshots: readonly number[]
  readonly #deeper: DeeperLevels | undefined
  /** Era of the key's last version; later versions are in this era or an older one. */
  #era = 0

  /**
   * @param snapshots sequence numbers of live snapshots, ascending
   * @param deeper see TableJob.deeper; undefined keeps every tombstone
   */
  constructor(snapshots: readonly number[], deeper: readonly (readonly KeyRange[])[] | undefined) {
    this.#snapshots = snapshots
    this.#deeper = deeper === undefined ? undefined : new DeeperLevels(deeper)
  }

  /**
   * REQUIRES: keys ascend; versions of one key descend by sequence; isNewKey is true for the first one of a key.
   */
  judge(
    isNewKey: boolean,
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    sequence: number,
    kind: EntryKind
  ): Verdict {
    const era = this.#eraOf(sequence)
    // Hidden: the same era has a newer version of this key, and any reader that could see this version sees that one
    // instead.
    if (!isNewKey && era === this.#era) return Verdict.hidden
    this.#era = era
    // The tombstone can be dropped:
    // (1) it is in the oldest era, so no live snapshot is older than it, and
    // (2) no deeper level's range contains the key, so it hides nothing outside this merge, and
    // (3) older versions of the key within this merge are in the oldest era too, and are dropped by the rule above.
    if (
      kind === EntryKind.tombstone &&
      era === 0 &&
      this.#deeper !== undefined &&
      !this.#deeper.mayContain(keyBytes, keyStart, keyEnd)
    ) {
      return Verdict.uselessTombstone
    }
    return Verdict.keep
  }

  /** Number of live snapshots older than the version. There are few; most merges have none. */
  #eraOf(sequence: number): number {
    let era = this.#snapshots.length
    while (era > 0 && (this.#snapshots[era - 1] ?? 0) >= sequence) era--
    return era
  }
}

/** Key ranges of the deeper levels, queried with ascending keys: each level remembers its position. */
class DeeperLevels {
  readonly #levels: readonly (readonly KeyRange[])[]
  readonly #positions: number[]

  constructor(levels: readonly (readonly KeyRange[])[]) {
    this.#levels = levels
    this.#positions = levels.map(() => 0)
  }

  mayContain(bytes: Uint8Array, start: number, end: number): boolean {
    for (const [index, ranges] of this.#levels.entries()) {
      let at = this.#positions[index] ?? 0
      let range = ranges[at]
      while (range !== undefined && compareRanges(range.largest, 0, range.largest.length, bytes, start, end) < 0) {
        range = ranges[++at]
      }
      this.#positions[index] = at
      if (range === undefined) continue
      if (compareRanges(range.smallest, 0, range.smallest.length, bytes, start, end) <= 0) return true
    }
    return false
  }
}
