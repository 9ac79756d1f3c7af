/**
 * A flush except for file access: turns memtable entries into the blocks, index and key filter of tables. Compiled by
 * scripts/build-kernels.mjs; the contract is in ../kernel-functions.ts, the memory layout in ../flush-kernel.ts.
 *
 * Invariants:
 * 1. The surviving versions are those of drop-rules.ts if nothing is known of deeper levels; the host decides where
 *    tables end, and is asked before every key where that may be.
 * 2. The bytes equal those that format/table-builder.ts would write for the same entries.
 */
import { addEntry, beginBlocks, isBetweenBlocks, lastLength, outputBytes, sharedWithLast } from './blocks'
import { addressOf, compareKeys, keyLengthOf, keyOf, kindOf, sequenceOf, valueLengthOf } from './entries'
import { addHash, clearHashes } from './key-filter'
import { firstEntry, NONE, nextOf } from './order'

export {
  blockCount,
  compressedBlocks,
  endBlocks,
  failures,
  lastKey,
  lastLength,
  outputBlocks,
  outputBytes,
  outputWritten,
  separatorBytes,
  setBlockOptions,
  setBlocks,
  skip
} from './blocks'
export { keyBytes, largestEntry, relocate, setEntries } from './entries'
export { fillFilter, hashCount, setHashes } from './key-filter'
export { orderSome, setOrder } from './order'

/** Results of build(). */
const DONE: u32 = 0
/** The requested amount of work is done. */
const SLICE: u32 = 1
/** There is enough output to write. */
const OUTPUT_FULL: u32 = 2
/** A table may have to end before the next key. */
const BORDER: u32 = 3

const OUTPUT_BYTES: u32 = 0x40000
/** Work counted per entry in addition to its bytes. */
const ENTRY_WORK: u32 = 256

let current: u32 = 0
/** Whether there was a previous key. */
let hasLast: bool = false
/** Whether the host has been asked about the current key. */
let isCrossed: bool = false
/** The host is asked about a key that has fewer bytes than this in common with the previous one, */
let borderShared: u32 = 0
/** or that is greater than this one, if there is one. */
let borderKey: usize = 0
let borderLength: u32 = 0
let hasBorderKey: bool = false
/** Sequence numbers of live snapshots, f64, ascending. */
let snapshotsAt: usize = 0
let snapshots: u32 = 0
/** Era of the last version seen of the key. */
let lastEra: u32 = 0

/** The key that build() stopped at, and the length of its common prefix with the previous one. */
export let nextKey: usize = 0
export let nextLength: u32 = 0
export let nextShared: u32 = 0

/** Properties of the current table. */
export let entries: u32 = 0
export let tombstones: u32 = 0
export let rawBytes: u32 = 0
export let firstKey: usize = 0
export let firstLength: u32 = 0
export let smallestSequence: f64 = 0
export let largestSequence: f64 = 0

/** Starts at the first entry. REQUIRES: entries are in order. @param count of snapshots, f64 each at `at` */
export function begin(at: usize, count: u32): void {
  current = firstEntry()
  hasLast = false
  isCrossed = false
  borderShared = 0xffffffff
  hasBorderKey = false
  snapshotsAt = at
  snapshots = count
}

/** The host's answer about the next key. @param hasKey whether there is a key after which the host wants to be asked */
export function cross(shared: u32, hasKey: bool, key: usize, length: u32): void {
  isCrossed = true
  borderShared = shared
  hasBorderKey = hasKey
  borderKey = key
  borderLength = length
}

export function beginTable(number: u32): void {
  beginBlocks(number)
  clearHashes()
  entries = 0
  tombstones = 0
  rawBytes = 0
  smallestSequence = 9007199254740991
  largestSequence = 0
}

/** REQUIRES: a table has been begun before the first key, and after each table that was ended. */
export function build(work: u32): u32 {
  let done: u32 = 0
  while (current != NONE) {
    if (done >= work) return SLICE
    const at = addressOf(current)
    const key = keyOf(at)
    const length = keyLengthOf(at)
    const shared = hasLast ? sharedWithLast(key, length) : 0
    const isNewKey = !hasLast || shared < length || shared < lastLength
    const era = snapshots == 0 ? 0 : eraOf(<f64>sequenceOf(at))
    if (isNewKey) {
      if (!isCrossed && isBorder(key, length, shared)) {
        nextKey = key
        nextLength = length
        nextShared = shared
        return BORDER
      }
      isCrossed = false
    } else if (era == lastEra) {
      // Hidden: any reader that could see this version sees a newer one.
      current = nextOf(current)
      continue
    }
    lastEra = era
    hasLast = true
    if (isNewKey) addHash(key, length)
    addEntry(at, shared)
    count(at, key, length)
    done += ENTRY_WORK + length + valueLengthOf(at)
    current = nextOf(current)
    if (outputBytes() >= OUTPUT_BYTES && isBetweenBlocks()) return OUTPUT_FULL
  }
  return DONE
}

function isBorder(key: usize, length: u32, shared: u32): bool {
  return shared < borderShared || (hasBorderKey && compareKeys(borderKey, borderLength, key, length) < 0)
}

function count(at: usize, key: usize, length: u32): void {
  if (entries == 0) {
    firstKey = key
    firstLength = length
  }
  const sequence = <f64>sequenceOf(at)
  smallestSequence = min<f64>(smallestSequence, sequence)
  largestSequence = max<f64>(largestSequence, sequence)
  if (kindOf(at) == 0) tombstones++
  entries++
  rawBytes += length + valueLengthOf(at)
}

/** Number of live snapshots older than the version. */
function eraOf(sequence: f64): u32 {
  let era = snapshots
  while (era > 0 && load<f64>(snapshotsAt + (<usize>(era - 1) << 3)) >= sequence) era--
  return era
}
