/** Merges do not change what reads return. */
import { edit, mutant } from './mutant.mjs'

export const compaction = [
  mutant(
    'a tombstone is dropped above its base level',
    edit(
      'lsm/compaction/drop-rules',
      'era === 0 &&\n      this.#deeper !== undefined &&\n      !this.#deeper.mayContain(keyBytes, keyStart, keyEnd)',
      'era === 0 &&\n      this.#deeper !== undefined'
    ),
    'lsm/compaction-drop-rules',
    'lsm/model-levels'
  ),
  mutant(
    'a merge within level 0 drops tombstones over older runs',
    edit('lsm/engine/table-jobs', 'deeper: outputLevel === 0 ? undefined : rangesBelow', 'deeper: rangesBelow'),
    'lsm/engine-table-jobs',
    'lsm/model-levels'
  ),
  mutant(
    'the smallest snapshot is ignored',
    edit(
      'lsm/compaction/drop-rules',
      '    let era = this.#snapshots.length\n',
      '    let era = Math.min(0, this.#snapshots.length)\n'
    ),
    'lsm/compaction-drop-rules',
    'lsm/engine-snapshots',
    'lsm/model-sizes'
  ),
  mutant(
    'merges ignore snapshots',
    edit(
      'lsm/engine/background',
      'mergeJob(directory, merge, version, snapshots.live(), options)',
      'mergeJob(directory, merge, version, [], options)'
    ),
    'lsm/engine-snapshots',
    'lsm/model-sizes'
  ),
  mutant(
    'a memtable is released before an older one is in tables',
    edit(
      'lsm/engine/flushes',
      "      if ((await before) === false) throw aborted('an earlier memtable was not flushed')\n",
      ''
    ),
    'lsm/engine-flushes'
  ),
  mutant(
    'a table moves below older ones that it overlaps',
    edit(
      'lsm/compaction/level0-policy',
      '      if (runs.some((other, at) => at !== index && overlapping(other, table).length > 0)) continue\n',
      '      if (index < 0) continue\n'
    ),
    'lsm/picker-cases',
    'lsm/picker-model',
    'lsm/model-levels'
  ),
  mutant(
    'tombstones of level 0 go below older entries that they hide',
    edit(
      'lsm/compaction/level0-policy',
      '      if (runs.some((older, at) => at > age && overlapping(older, table).length > 0)) continue\n',
      ''
    ),
    'lsm/picker-cases',
    'lsm/picker-model'
  ),
  mutant(
    'tombstones are merged down although a snapshot sees what they hide',
    edit('lsm/compaction/moves', 'state.oldestSnapshot < largestSequence', 'state.oldestSnapshot < 0'),
    'lsm/picker-cases',
    'lsm/deleted-in-order'
  ),
  mutant(
    'what a snapshot held back waits for the next flush',
    edit(
      'lsm/engine/engine',
      '  onSnapshotReleased(): void {\n    this.#background.schedule()',
      '  onSnapshotReleased(): void {'
    ),
    'lsm/deleted-in-order'
  ),
  mutant(
    'what was left to merge when a store was closed waits for the next flush',
    edit(
      'lsm/engine/engine',
      '    if (versions.isConsolidated) this.#background.resume()\n    else ',
      '    if (false) '
    ),
    'lsm/compaction-rest'
  ),
  mutant(
    'a store that is always closed at once is never merged',
    edit('lsm/engine/engine', '    this.#background.endDelay()\n', ''),
    'lsm/compaction-rest'
  ),
  mutant(
    'a merge leaves out tables that its widened range overlaps',
    edit('lsm/compaction/level0-policy', '    if (taken.length === known) break\n', '    if (known < 0) break\n'),
    'lsm/picker-cases',
    'lsm/picker-model',
    'lsm/model-levels'
  ),
  mutant(
    'a table ends between two versions of a key',
    edit('lsm/compaction/job-merge', ' && this.#isFirstKept && !outputs.isLast', ' && !outputs.isLast'),
    'lsm/compaction-job',
    'lsm/model-levels'
  ),
  mutant(
    'partitions are compacted separately although a table spans them',
    edit(
      'lsm/compaction/table-groups',
      'grouping.depth === 0 ? new Map() : joins',
      'grouping.depth >= 0 ? new Map() : joins'
    ),
    'lsm/regression-001-partitions-of-an-older-depth',
    'lsm/model-levels'
  ),
  mutant(
    'files are removed while a reader uses their version',
    edit(
      'lsm/engine/garbage',
      'if (dropped.holders.some((version) => version.isUsed)) kept',
      'if (dropped.holders.length < 0) kept'
    ),
    'lsm/engine-snapshots',
    'lsm/model-sizes'
  ),
  mutant(
    'two runs of one merge are read into the same memory',
    edit('lsm/format/block-source', 'idleSpaces.pop() ?? new ReadSpace()', 'idleSpaces.at(-1) ?? new ReadSpace()'),
    'lsm/model-levels'
  ),
  mutant(
    'small tables on both sides of a partition are joined across it',
    edit('lsm/compaction/join-small', ' || !areNeighbours(view, level, joined)', ''),
    'lsm/picker-cases',
    'lsm/picker-model'
  ),
  mutant(
    'a large table is rewritten to join a few small ones',
    edit('lsm/compaction/join-small', 'if (largest * 2 <= bytes) end', 'if (largest <= bytes) end'),
    'lsm/picker-cases'
  ),
  mutant(
    'clear() deletes writes that wait for the disk',
    edit(
      'lsm/engine/unchanged-since',
      'if (waiting.size === 0) return isUnchanged',
      'if (waiting.size < 1e9) return isUnchanged'
    ),
    'lsm/engine-clear'
  ),
  mutant(
    'small tables are joined although more will come between them',
    edit('lsm/compaction/join-small', 'bytes > maxFileBytes || !isNewer ||', 'bytes > maxFileBytes ||'),
    'lsm/picker-cases',
    'docstore/bulk-load-stores'
  ),
  mutant(
    'small tables of several partitions are joined',
    edit('lsm/compaction/join-small', ' || groupOfTable(tables[at]!, grouping) !== group', ''),
    'lsm/picker-cases'
  ),
  mutant(
    'clear() drops tables without waiting for pending writes',
    edit('lsm/engine/drop-range', '    await engine.whenWritten()\n', ''),
    'lsm/clear-waiting-writes'
  ),
  mutant(
    'what was written before tables are dropped at once is not durable',
    edit('lsm/engine/drop-at-once', '  await engine.sync()\n', ''),
    'lsm/drop-at-once-crash'
  ),
  mutant(
    'tables ingested during a clear are dropped at once',
    edit('lsm/engine/drop-at-once', '    if (isOvertaken()) return []\n', ''),
    'lsm/drop-at-once'
  ),
  mutant(
    'newer entries in tables within a range are dropped at once',
    edit('lsm/engine/drop-at-once', ' && table.largestSequence <= view.sequence', ''),
    'lsm/drop-at-once'
  ),
  mutant(
    'what a merge has moved across the border of a range is not cleared',
    edit(
      'lsm/engine/drop-at-once',
      ' && !others.has(table.number)) return []',
      ' && !others.has(table.number)) continue'
    ),
    'lsm/drop-at-once'
  ),
  mutant(
    'keys of memtables are forgotten when tables are dropped at once',
    edit('lsm/engine/drop-at-once', 'hasKeyIn(memtable.cursor(), range)', 'false'),
    'lsm/drop-at-once'
  ),
  mutant(
    'an iterator continues after a failed read',
    edit('lsm/read/range-scan', '    this.#state = failed\n', ''),
    'lsm/iterator-read-errors'
  ),
  mutant(
    'small partitions end tables, too',
    edit('lsm/compaction/output-boundaries', 'rawBytes - this.#partitionStart >= minBytes', 'rawBytes >= 0'),
    'lsm/compaction-job'
  ),
  mutant(
    'a partition that ends in a new table is taken for a small one',
    edit('lsm/compaction/table-outputs', 'this.#endedRawBytes + (', '('),
    'lsm/compaction-job'
  ),
  mutant(
    'small partitions that share tables have levels of their own',
    edit('lsm/compaction/own-partitions', 'minBytes === 0 ? undefined', 'minBytes >= 0 ? undefined'),
    'lsm/picker-cases'
  ),
  mutant(
    'tombstones in tables that partitions share are overlooked',
    edit(
      'lsm/engine/table-tombstones',
      'if (known === undefined) return undefined',
      'if (known === undefined) return false'
    ),
    'lsm/own-partitions'
  ),
  mutant(
    'half of a range stays deleted after a crash, because dropping its tables was given up',
    edit('lsm/engine/clear-range', 'if (isWorth) await engine.sync()', ''),
    'lsm/model-histories'
  )
]
