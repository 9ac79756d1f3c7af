import type { EntryKind, EntryRanges } from '../../src/lsm/format/entry.ts'

/** An entry whose key and value fill their buffers. */
export function wholeEntry(key: Uint8Array, sequence: number, kind: EntryKind, value: Uint8Array): EntryRanges {
  return {
    keyBytes: key,
    keyStart: 0,
    keyEnd: key.length,
    sequence,
    kind,
    valueBytes: value,
    valueStart: 0,
    valueEnd: value.length
  }
}
