/** The memtables' entries, laid out as in EntryList, but with addresses instead of offsets in chunks. */

/** Byte offsets of an entry's words: see memtable/entry-list.ts. */
const CHUNK: usize = 0
const KEY_START: usize = 4
const KEY_END: usize = 8
const VALUE_START: usize = 12
const VALUE_END: usize = 16
const SEQUENCE: usize = 20
const ENTRY_BYTES: usize = 40
const PUT_FLAG: u32 = 1
const CHUNK_SHIFT: u32 = 2

let entriesAt: usize = 0

/** Size of the largest key and value together; set by relocate(). */
export let largestEntry: u32 = 0
/** Total size of all keys; set by relocate(). */
export let keyBytes: u32 = 0

/** Sets the address of the entries. */
export function setEntries(at: usize): void {
  entriesAt = at
  largestEntry = 0
  keyBytes = 0
}

/**
 * Converts offsets in chunks to addresses, for entries [from, to).
 * @param chunks addresses of the memtable's chunks, u32 each
 */
export function relocate(from: u32, to: u32, chunks: usize): void {
  for (let entry = from; entry < to; entry++) {
    const at = addressOf(entry)
    const chunk = load<u32>(chunks + (<usize>(load<u32>(at, CHUNK) >> CHUNK_SHIFT) << 2))
    const keyStart = load<u32>(at, KEY_START)
    const keyEnd = load<u32>(at, KEY_END)
    const valueStart = load<u32>(at, VALUE_START)
    const valueEnd = load<u32>(at, VALUE_END)
    keyBytes += keyEnd - keyStart
    largestEntry = max<u32>(largestEntry, keyEnd - keyStart + valueEnd - valueStart)
    store<u32>(at, keyStart + chunk, KEY_START)
    store<u32>(at, keyEnd + chunk, KEY_END)
    store<u32>(at, valueStart + chunk, VALUE_START)
    store<u32>(at, valueEnd + chunk, VALUE_END)
  }
}

@inline
export function addressOf(entry: u32): usize {
  return entriesAt + <usize>entry * ENTRY_BYTES
}

@inline
export function keyOf(at: usize): usize {
  return <usize>load<u32>(at, KEY_START)
}

@inline
export function keyLengthOf(at: usize): u32 {
  return load<u32>(at, KEY_END) - load<u32>(at, KEY_START)
}

@inline
export function valueOf(at: usize): usize {
  return <usize>load<u32>(at, VALUE_START)
}

@inline
export function valueLengthOf(at: usize): u32 {
  return load<u32>(at, VALUE_END) - load<u32>(at, VALUE_START)
}

@inline
export function sequenceOf(at: usize): u64 {
  return load<u64>(at, SEQUENCE)
}

/** 1 for a put, 0 for a tombstone: as in EntryKind. */
@inline
export function kindOf(at: usize): u32 {
  return load<u32>(at, CHUNK) & PUT_FLAG
}

/** Bytewise order of two keys. Reads up to seven bytes past them. */
export function compareKeys(a: usize, aLength: u32, b: usize, bLength: u32): i32 {
  const shared = min<u32>(aLength, bLength)
  let at: u32 = 0
  for (; at + 8 <= shared; at += 8) {
    const left = load<u64>(a + <usize>at)
    const right = load<u64>(b + <usize>at)
    if (left != right) return bswap<u64>(left) < bswap<u64>(right) ? -1 : 1
  }
  if (at < shared) {
    const rest = (8 - <u64>(shared - at)) << 3
    const left = bswap<u64>(load<u64>(a + <usize>at)) >> rest
    const right = bswap<u64>(load<u64>(b + <usize>at)) >> rest
    if (left != right) return left < right ? -1 : 1
  }
  return <i32>aLength - <i32>bLength
}

/** Length of the common prefix of two keys, at most `limit`. Reads up to seven bytes past them. */
export function sharedBytes(a: usize, b: usize, limit: u32): u32 {
  for (let at: u32 = 0; at < limit; at += 8) {
    const difference = load<u64>(a + <usize>at) ^ load<u64>(b + <usize>at)
    if (difference != 0) return min<u32>(limit, at + <u32>(ctz<u64>(difference) >> 3))
  }
  return limit
}
