/** The result of a lookup, written in place so that lookups allocate nothing. */
import { EntryKind } from './entry.ts'

/** The newest visible version of a key. The value's bytes belong to a block or to the memtable's arena. */
export class Found {
  kind: EntryKind = EntryKind.tombstone
  sequence = 0
  valueBytes: Uint8Array = Buffer.alloc(0)
  valueStart = 0
  /** Equal to valueStart for a tombstone. */
  valueEnd = 0
}
