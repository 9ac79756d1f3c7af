/**
 * Counts the values that a scan traced at TRACE into a sample. Does the same as ../../tune/sampled-pairs.ts, in the
 * same arrays, which are in this memory as long as they fit. JavaScript keeps their sizes.
 */
import {
  SAMPLE_MEMBERS,
  SAMPLE_PAIRS,
  SAMPLE_SLOTS,
  SAMPLE_TEXTS,
  SAMPLE_VALUES,
  TRACE,
  TRACE_BYTES
} from './layout'
import { DOUBLE, FORM, NODE, TAG, TEXT, TEXT_BYTES, TEXT_UNITS, VALUE } from './trace'

/** Fields of a pair: the hash's low half, number of documents that have it, last document counted, the high half. */
const COUNT: usize = 4
const SEEN_IN: usize = 8
const HIGH: usize = 12
const EMPTY: i32 = -1

let members: u32 = 0
let uncounted: u32 = 0
let textsEnd: u32 = 0
/** Keeps the loads in touchSlots() from being optimised away. */
let touched: u32 = 0

export function sampledMembers(): u32 {
  return members
}

export function uncountedEntries(): u32 {
  return uncounted
}

export function sampledTextBytes(): u32 {
  return textsEnd
}

/** REQUIRES: room for as many more pairs, with half of the slots free, and for texts. @returns the number of pairs */
export function countSample(
  entries: u32, document: u32, size: u32, slotMask: u32, textBytes: u32, maxMembers: u32, maxUnits: u32
): u32 {
  touchSlots(entries, slotMask)
  members = 0
  uncounted = 0
  textsEnd = textBytes
  const end = TRACE + <usize>entries * TRACE_BYTES
  for (let entry = TRACE; entry < end; entry += TRACE_BYTES) {
    if (members == maxMembers || load<u32>(entry, TEXT_UNITS) > maxUnits) {
      uncounted++
      continue
    }
    const lo = load<u32>(entry)
    const slot = slotOf(lo, slotMask)
    let number = load<i32>(slot)
    if (number == EMPTY) {
      number = size++
      store<i32>(slot, number)
      addPair(number, entry)
    }
    const pair = SAMPLE_PAIRS + (<usize>number << 4)
    if (load<u32>(pair, SEEN_IN) == document) continue
    store<u32>(pair, document, SEEN_IN)
    store<u32>(pair, load<u32>(pair, COUNT) + 1, COUNT)
    store<u32>(SAMPLE_MEMBERS + (<usize>members << 2), number)
    members++
  }
  return size
}

/** Empties the slots and reinserts the pairs. */
export function rehashSample(size: u32, slots: u32): void {
  memory.fill(SAMPLE_SLOTS, 0xff, <usize>slots << 2)
  for (let number: u32 = 0; number < size; number++) {
    const lo = load<u32>(SAMPLE_PAIRS + (<usize>number << 4))
    store<u32>(slotOf(lo, slots - 1), number)
  }
}

/** Loads all slots in advance: they are scattered over memory, and this way their cache misses overlap. */
function touchSlots(entries: u32, slotMask: u32): void {
  const end = TRACE + <usize>entries * TRACE_BYTES
  let all: u32 = 0
  for (let entry = TRACE; entry < end; entry += TRACE_BYTES) {
    all ^= load<u32>(SAMPLE_SLOTS + (<usize>(load<u32>(entry) & slotMask) << 2))
  }
  touched = all
}

/** The address of the slot that holds the pair's number, or should. */
function slotOf(lo: u32, slotMask: u32): usize {
  let slot = lo & slotMask
  while (true) {
    const address = SAMPLE_SLOTS + (<usize>slot << 2)
    const number = load<i32>(address)
    if (number == EMPTY || load<u32>(SAMPLE_PAIRS + (<usize>number << 4)) == lo) return address
    slot = (slot + 1) & slotMask
  }
}

function addPair(number: u32, entry: usize): void {
  const pair = SAMPLE_PAIRS + (<usize>number << 4)
  store<u32>(pair, load<u32>(entry))
  store<u64>(pair, 0, COUNT)
  store<u32>(pair, load<u32>(entry, 4), HIGH)
  const value = SAMPLE_VALUES + (<usize>number << 4)
  // Complemented, to distinguish it from the sample's own path numbers.
  store<u32>(value, ~load<u32>(entry, NODE))
  const form = load<u32>(entry, FORM)
  store<u32>(value, load<u32>(entry, TAG) | (form << 8), 4)
  if (form == DOUBLE) {
    store<u64>(value, load<u64>(entry, VALUE), 8)
    return
  }
  const bytes = load<u32>(entry, TEXT_BYTES)
  store<u32>(value, textsEnd, 8)
  store<u32>(value, bytes, 12)
  memory.copy(SAMPLE_TEXTS + <usize>textsEnd, load<u32>(entry, TEXT), bytes)
  textsEnd += bytes
}
