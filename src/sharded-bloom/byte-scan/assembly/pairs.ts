/**
 * What becomes of a pair: the slot of its private row, or bits in the document's signature.
 *
 * Invariant: a private pair is compared by node, tag and key after its hash, as in private-table.ts.
 */
import { resetCounts } from './columns'
import { hashDouble } from './hash'
import { HASHES, MAX_HASHES, MAX_SLOTS, PAIR_ADDRESSES, PAIR_BYTES, PAIR_MARKS, PAIRS, SIGNATURE, SLOTS } from './layout'
import { CONSTANTS, DOCUMENT, FACTS, IRREGULAR, SEED_HI, SEED_LO, TYPES } from './nodes'
import { isTracing, traceDouble, traceText } from './trace'

/** Of a pair: its node, tag (with WIDE for a text of UTF-16 units), slot, and the text's place and length or the double. */
const NODE: usize = 0
const TAG: usize = 4
const SLOT: usize = 8
const TEXT: usize = 16
const LENGTH: usize = 20
const VALUE: usize = 16
export const WIDE: u32 = 0x100

const MULTIPLIER: u32 = 0x915f77f5

const TAG_TYPE: u32 = 17
const TAG_EXISTS: u32 = 18

/** Of a fact that has no slot. */
const NO_SLOT: u32 = 0xffffffff
/** Set in one half or the other of facts of which not both have a slot. */
const NO_SLOTS: u64 = 0x8000000080000000

/** defaultFlattenLimits.maxPairs */
const MAX_COUNT: u32 = 20_000

let pairCount: u32 = 0
let bucketMask: u32 = 0
let rowsPerPair: u32 = 0
let shards: u32 = 0
let stratum: u32 = 0
let firstWider: u32 = 0
let hashesFacts: bool = false

let slotsEnd: usize = 0
let hashedCount: u32 = 0
let valueCount: u32 = 0
let factCount: u32 = 0
let document: u32 = 0
let isUnknown: bool = false
let hashCount: u32 = 0
let hasIrregularKey: bool = false

/** Begins another segment, without pairs. `buckets`, a power of two, have room for twice the pairs it will get. */
export function resetPairs(P: u32, r: u32, buckets: u32): void {
  pairCount = 0
  bucketMask = buckets - 1
  memory.fill(PAIR_MARKS, 0, <usize>buckets << 4)
  shards = P
  rowsPerPair = r
  stratum = P / r
  firstWider = r - (P - stratum * r)
}

/** Facts without a slot are hashed from now on. */
export function setHashesFacts(value: bool): void {
  hashesFacts = value
}

/** A pair with a text: ASCII bytes, or UTF-16 units when the tag has WIDE. REQUIRES: room for it. */
export function addTextPair(lo: u32, hi: u32, node: usize, tag: u32, slot: u32, text: usize, length: u32): void {
  const pair = addPair(lo, hi, node, tag, slot)
  store<u32>(pair, <u32>text, TEXT)
  store<u32>(pair, length, LENGTH)
}

export function addDoublePair(lo: u32, hi: u32, node: usize, tag: u32, slot: u32, value: f64): void {
  store<f64>(addPair(lo, hi, node, tag, slot), value, VALUE)
}

function addPair(lo: u32, hi: u32, node: usize, tag: u32, slot: u32): usize {
  const pair = PAIRS + <usize>(pairCount++) * PAIR_BYTES
  store<u32>(pair, <u32>node, NODE)
  store<u32>(pair, tag, TAG)
  store<u32>(pair, slot, SLOT)
  let place = <usize>(lo & bucketMask) << 4
  while (load<u8>(PAIR_MARKS + place) != 0) place = (place + 1) & ((<usize>bucketMask << 4) | 15)
  store<u8>(PAIR_MARKS + place, <u8>markOf(hi))
  store<u32>(PAIR_ADDRESSES + (place << 2), <u32>pair)
  return pair
}

/** REQUIRES: `stamp` is in no node. */
export function beginDocument(stamp: u32): void {
  document = stamp
  slotsEnd = SLOTS
  hashedCount = 0
  valueCount = 0
  factCount = 0
  isUnknown = false
  hasIrregularKey = false
  hashCount = 0
  resetCounts()
  for (let i: usize = 0; i < <usize>(shards >>> 3); i += 16) v128.store(SIGNATURE + i, i64x2.splat(0))
}

// @ts-ignore: decorator
@inline
export function slotCount(): u32 {
  return <u32>((slotsEnd - SLOTS) >>> 2)
}

// @ts-ignore: decorator
@inline
export function hashedPairs(): u32 {
  return hashedCount
}

/** True after a fact that the segment has no place for yet. */
// @ts-ignore: decorator
@inline
export function hasUnknownFact(): bool {
  return isUnknown
}

/** True when there is no room for the slots of another value and its facts. */
// @ts-ignore: decorator
@inline
export function areSlotsFull(): bool {
  return slotsEnd > SLOTS + ((MAX_SLOTS - 8) << 2)
}

/** Hashes left at HASHES. */
export function hashesLeft(): u32 {
  return hashCount
}

/** True when the document has more pairs than are indexed. */
// @ts-ignore: decorator
@inline
export function isOverfull(): bool {
  return valueCount > MAX_COUNT || factCount > MAX_COUNT
}

/** TYPE and EXISTS of a node, once per document. */
// @ts-ignore: decorator
@inline
export function addFact(node: usize, type: u32): void {
  const types = load<u32>(node, DOCUMENT) == document ? load<u32>(node, TYPES) : 0
  if ((types & (1 << type)) == 0) addNewFact(node, type, types)
}

// @ts-ignore: decorator
@inline
function addNewFact(node: usize, type: u32, types: u32): void {
  store<u32>(node, document, DOCUMENT)
  store<u32>(node, types | (1 << type), TYPES)
  factCount++
  const slots = load<u64>(node + (<usize>(type & 7) << 3), FACTS)
  if ((slots & NO_SLOTS) != 0) return addRareFact(node, type, slots)
  store<u64>(slotsEnd, slots)
  slotsEnd += 8
}

function addRareFact(node: usize, type: u32, slots: u64): void {
  if (!hashesFacts) {
    isUnknown = true
    return
  }
  if (<u32>slots != NO_SLOT) addSlot(<u32>slots)
  else setRows(hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), TAG_TYPE, type))
  if (<u32>(slots >>> 32) != NO_SLOT) addSlot(<u32>(slots >>> 32))
  else setRows(hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), TAG_EXISTS, 0))
}

/** True when there are slots of irregular keys among those of the document. */
export function isIrregular(): bool {
  return hasIrregularKey
}

/** The pairs below the top-level key do not mean what they say: an array stands in an array. */
export function addIrregular(topLevel: usize): void {
  hasIrregularKey = true
  const slot = load<u32>(topLevel, IRREGULAR)
  if (slot == NO_SLOT) isUnknown = true
  else addSlot(slot)
}

/** A number, or the length of an array. */
export function addDouble(node: usize, tag: u32, value: f64): void {
  valueCount++
  const hash = hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), tag, value)
  if (isTracing()) traceDouble(hash, node, tag, value)
  const slot = findDouble(hash, node, tag, value)
  if (slot >= 0) addSlot(<u32>slot)
  else addHashed(hash)
}

/** null, false or true, or an empty array: its slot is looked up once per segment. `index` 0…3. */
export function addConstant(node: usize, index: usize, tag: u32, value: f64): void {
  const known = load<u16>(node + (index << 1), CONSTANTS)
  if (known == 0 || known == 0xffff || isTracing()) return addFirstConstant(node, index, tag, value)
  valueCount++
  addSlot(<u32>known - 1)
}

function addFirstConstant(node: usize, index: usize, tag: u32, value: f64): void {
  valueCount++
  const hash = hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), tag, value)
  if (isTracing()) traceDouble(hash, node, tag, value)
  const slot = findDouble(hash, node, tag, value)
  if (slot >= 0) {
    if (slot < 0xfffe) store<u16>(node + (index << 1), <u16>(slot + 1), CONSTANTS)
    addSlot(<u32>slot)
  } else addHashed(hash)
}

/**
 * A text and its hash: ASCII bytes at `text`, or UTF-16 units when the tag has WIDE.
 * @param start where it stands in the input, in `bytes` bytes
 */
export function addText(
  node: usize, tag: u32, hash: u64, text: usize, length: u32, start: usize, bytes: u32
): void {
  valueCount++
  if (isTracing()) traceText(hash, node, tag & ~WIDE, start, bytes, length)
  const slot = findText(hash, node, tag, text, length)
  if (slot >= 0) addSlot(<u32>slot)
  else addHashed(hash)
}

// @ts-ignore: decorator
@inline
function addSlot(slot: u32): void {
  store<u32>(slotsEnd, slot)
  slotsEnd += 4
}

// @ts-ignore: decorator
@inline
function markOf(hi: u32): u32 {
  return (hi >>> 24) | 1
}

function findDouble(hash: u64, node: usize, tag: u32, value: f64): i32 {
  const mark = i8x16.splat(<i8>markOf(<u32>(hash >>> 32)))
  let bucket = <u32>hash & bucketMask
  while (true) {
    const first = <usize>bucket << 4
    const marks = v128.load(PAIR_MARKS + first)
    for (let matches = i8x16.bitmask(i8x16.eq(marks, mark)); matches != 0; matches &= matches - 1) {
      const pair = <usize>load<u32>(PAIR_ADDRESSES + ((first + <usize>ctz(matches)) << 2))
      if (load<u32>(pair, NODE) != <u32>node || load<u32>(pair, TAG) != tag) continue
      if (load<u64>(pair, VALUE) == reinterpret<u64>(value)) return load<i32>(pair, SLOT)
    }
    // A bucket with room has sent no pair on to the next one.
    if (!i8x16.all_true(marks)) return -1
    bucket = (bucket + 1) & bucketMask
  }
}

function findText(hash: u64, node: usize, tag: u32, text: usize, length: u32): i32 {
  const mark = i8x16.splat(<i8>markOf(<u32>(hash >>> 32)))
  let bucket = <u32>hash & bucketMask
  while (true) {
    const first = <usize>bucket << 4
    const marks = v128.load(PAIR_MARKS + first)
    for (let matches = i8x16.bitmask(i8x16.eq(marks, mark)); matches != 0; matches &= matches - 1) {
      const pair = <usize>load<u32>(PAIR_ADDRESSES + ((first + <usize>ctz(matches)) << 2))
      if (load<u32>(pair, NODE) != <u32>node || load<u32>(pair, TAG) != tag) continue
      if (load<u32>(pair, LENGTH) != length) continue
      const bytes = (tag & WIDE) != 0 ? <usize>length << 1 : <usize>length
      if (equalBytes(text, load<u32>(pair, TEXT), bytes)) return load<i32>(pair, SLOT)
    }
    if (!i8x16.all_true(marks)) return -1
    bucket = (bucket + 1) & bucketMask
  }
}

/** May read, but not compare, up to seven bytes beyond. */
// @ts-ignore: decorator
@inline
function equalBytes(a: usize, b: usize, length: usize): bool {
  if (length < 8) return ((load<u64>(a) ^ load<u64>(b)) & ((<u64>1 << (<u64>length << 3)) - 1)) == 0
  const last = length - 8
  for (let i: usize = 0; i < last; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false
  return load<u64>(a + last) == load<u64>(b + last)
}

/** A value or a size. */
function addHashed(hash: u64): void {
  if (hashCount < MAX_HASHES) store<u64>(HASHES + (<usize>hashCount << 3), hash)
  hashCount++
  setRows(hash)
}

/** Sets the rows of bloom/row-numbers.ts in the signature. */
function setRows(hash: u64): void {
  hashedCount++
  if (stratum == 0) return addCramped(hash)
  const hi = <u32>(hash >>> 32)
  let state = <u32>hash
  let first: u32 = 0
  const wider = firstWider * stratum
  for (; first < wider; first += stratum) {
    state = state * MULTIPLIER + hi
    setRow(first + <u32>((<u64>state * <u64>stratum) >>> 32))
  }
  for (const width = stratum + 1; first < shards; first += width) {
    state = state * MULTIPLIER + hi
    setRow(first + <u32>((<u64>state * <u64>width) >>> 32))
  }
}

/** More rows are asked for than there are. */
function addCramped(hash: u64): void {
  let state = <u32>hash
  for (let i: u32 = 0; i < rowsPerPair; i++) {
    state = state * MULTIPLIER + <u32>(hash >>> 32)
    setRow(<u32>((<u64>state * <u64>shards) >>> 32))
  }
}

// @ts-ignore: decorator
@inline
function setRow(row: u32): void {
  const byte = SIGNATURE + <usize>(row >>> 3)
  store<u8>(byte, load<u8>(byte) | <u8>(<u32>1 << (row & 7)))
}
