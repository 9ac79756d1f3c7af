/** A minimal abstract-level database over a memtable, for tests of iterators. */
import { AbstractLevel } from 'abstract-level'
import type { Cursor } from '../../src/lsm/format/cursor.ts'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import type { ArenaPool } from '../../src/lsm/memtable/arena.ts'
import {
  LsmIterator,
  type LsmIteratorOptions,
  LsmKeyIterator,
  LsmValueIterator
} from '../../src/lsm/read/lsm-iterator.ts'
import type { CursorOptions, ReadView } from '../../src/lsm/read/read-view.ts'
import { FilledMemtable } from './memtable-filling.ts'

interface Operation {
  readonly type: 'put' | 'del'
  readonly key: Buffer
  readonly value?: Buffer
}

export class MemtableLevel extends AbstractLevel<Buffer> {
  readonly filled: FilledMemtable
  /** Options of all cursors created. */
  readonly cursorOptions: CursorOptions[] = []
  openViews = 0
  /** Replaces the memtable's cursor. */
  cursorOf: (() => Cursor) | undefined

  constructor(pool?: ArenaPool) {
    super({ encodings: { buffer: true }, seek: true, implicitSnapshots: true })
    this.filled = new FilledMemtable(pool)
  }

  view(): ReadView {
    this.openViews++
    let isReleased = false
    return {
      sequence: this.filled.memtable.largestSequence,
      epoch: undefined,
      gaps: undefined,
      prepareSlice: () => this.cursorOf === undefined && this.filled.memtable.sortSlice(),
      cursor: (options) => {
        this.cursorOptions.push(options)
        return this.cursorOf?.() ?? this.filled.memtable.cursor()
      },
      release: () => {
        if (!isReleased) this.openViews--
        isReleased = true
      }
    }
  }

  async _open(): Promise<void> {}

  async _batch(operations: readonly Operation[]): Promise<void> {
    for (const { type, key, value } of operations) {
      const kind = type === 'put' ? EntryKind.put : EntryKind.tombstone
      this.filled.add({ kind, key, value: value ?? Buffer.alloc(0) })
    }
  }

  _iterator(options: LsmIteratorOptions): unknown {
    return new LsmIterator(this, this.view(), options)
  }

  _keys(options: LsmIteratorOptions): unknown {
    return new LsmKeyIterator(this, this.view(), options)
  }

  _values(options: LsmIteratorOptions): unknown {
    return new LsmValueIterator(this, this.view(), options)
  }
}

/** An open database with these entries. */
export async function levelWith(entries: Iterable<readonly [string, string]>): Promise<MemtableLevel> {
  const level = new MemtableLevel()
  await level.open()
  for (const [key, value] of entries) level.filled.put(key, value)
  return level
}
