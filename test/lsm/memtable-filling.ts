/** Puts test entries into a memtable as the write path does. */
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { Arena, type ArenaPool } from '../../src/lsm/memtable/arena.ts'
import { Memtable } from '../../src/lsm/memtable/memtable.ts'
import { compareEntries, type TestEntry } from './cursor-cases.ts'

/** A memtable and its entries. */
export class FilledMemtable {
  readonly memtable: Memtable
  readonly entries: TestEntry[] = []

  constructor(pool?: ArenaPool) {
    this.memtable = new Memtable(new Arena(pool))
  }

  get sorted(): readonly TestEntry[] {
    return [...this.entries].sort(compareEntries)
  }

  add({ key, value, kind }: Omit<TestEntry, 'sequence'>, sequence = this.memtable.largestSequence + 1): void {
    const { chunk, bytes, offset } = this.memtable.arena.reserve(key.length + value.length)
    bytes.set(key, offset)
    bytes.set(value, offset + key.length)
    const keyEnd = offset + key.length
    const end = keyEnd + value.length
    this.memtable.arena.commit(end)
    this.memtable.add(chunk, {
      keyBytes: bytes,
      keyStart: offset,
      keyEnd,
      sequence,
      kind,
      valueBytes: bytes,
      valueStart: keyEnd,
      valueEnd: end
    })
    this.entries.push({ key, value, kind, sequence })
  }

  put(key: string, value: string): void {
    this.add({ key: Buffer.from(key), value: Buffer.from(value), kind: EntryKind.put })
  }

  delete(key: string): void {
    this.add({ key: Buffer.from(key), value: Buffer.alloc(0), kind: EntryKind.tombstone })
  }
}
