/** Turns a document's pairs into slots of private rows and bits of the signature. */
import { resetCounts } from './columns'
import { DATE_TYPE } from './document'
import { hashDouble } from './hash'
import { HASHES, MAX_HASHES, MAX_SLOTS, SLOTS } from './layout'
import { CONSTANTS, dateFacts, DOCUMENT, FACTS, IRREGULAR, SEED_HI, SEED_LO, TYPES } from './nodes'
import { findDouble, findText, resetTable, WIDE } from './private-pairs'
import { clearSignature, hasRows, resetGeometry, setRows } from './signature'
import { isTracing, traceDouble, traceText } from './trace'

const TAG_TYPE: u32 = 17
const TAG_EXISTS: u32 = 18

/** A fact without a slot. */
const NO_SLOT: u32 = 0xffffffff
/** Mask of the two slots' top bits: non-zero unless both facts have a slot. */
const NO_SLOTS: u64 = 0x8000000080000000

/** defaultFlattenLimits.maxFacts; documents with more values are left to the flattener. */
const MAX_COUNT: u32 = 20_000

let hashesFacts: bool = false

let slotsEnd: usize = 0
let hashedCount: u32 = 0
let valueCount: u32 = 0
let factCount: u32 = 0
let document: u32 = 0
let isUnknown: bool = false
let hashCount: u32 = 0
let hasIrregularKey: bool = false

/**
 * Begins another segment, without pairs. `buckets`, a power of two, have room for twice its expected number of pairs.
 */
export function resetPairs(P: u32, r: u32, buckets: u32): void {
  resetTable(buckets)
  resetGeometry(P, r)
}

/** Sets whether facts without a slot are hashed; otherwise they are unknown. */
export function setHashesFacts(value: bool): void {
  hashesFacts = value
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
  clearSignature()
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

/** True after a fact for which the segment has no slot yet. */
// @ts-ignore: decorator
@inline
export function hasUnknownFact(): bool {
  return isUnknown
}

/** True when there may be no room for the slots of another value and its facts. */
// @ts-ignore: decorator
@inline
export function areSlotsFull(): bool {
  return slotsEnd > SLOTS + ((MAX_SLOTS - 8) << 2)
}

/** Number of hashes at HASHES. */
export function hashesLeft(): u32 {
  return hashCount
}

/** True when the document has more pairs than the scanner handles. */
// @ts-ignore: decorator
@inline
export function isOverfull(): bool {
  return valueCount > MAX_COUNT || factCount > MAX_COUNT || hashCount > MAX_HASHES
}

/** Adds TYPE and EXISTS of a node, once per document. */
// @ts-ignore: decorator
@inline
export function addFact(node: usize, type: u32): void {
  const types = typesMet(node)
  if ((types & (1 << type)) == 0) addNewFact(node, type, types, load<u64>(node + (<usize>(type & 7) << 3), FACTS))
}

/** As addFact(), for a date. */
export function addDateFact(node: usize): void {
  const types = typesMet(node)
  if ((types & (1 << DATE_TYPE)) == 0) addNewFact(node, DATE_TYPE, types, load<u64>(dateFacts(node)))
}

/** Types met in the current document, a bit each. */
// @ts-ignore: decorator
@inline
function typesMet(node: usize): u32 {
  return load<u32>(node, DOCUMENT) == document ? load<u32>(node, TYPES) : 0
}

/** @param slots of TYPE and EXISTS */
// @ts-ignore: decorator
@inline
function addNewFact(node: usize, type: u32, types: u32, slots: u64): void {
  store<u32>(node, document, DOCUMENT)
  store<u32>(node, types | (1 << type), TYPES)
  factCount++
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
  else addHashedFact(hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), TAG_TYPE, type))
  if (<u32>(slots >>> 32) != NO_SLOT) addSlot(<u32>(slots >>> 32))
  else addHashedFact(hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), TAG_EXISTS, 0))
}

/** True when the document's slots include those of irregular keys. */
export function isIrregular(): bool {
  return hasIrregularKey
}

/** Marks the document irregular below the top-level key: an array is directly in an array. */
export function addIrregular(topLevel: usize): void {
  hasIrregularKey = true
  const slot = load<u32>(topLevel, IRREGULAR)
  if (slot == NO_SLOT) isUnknown = true
  else addSlot(slot)
}

/** Adds a number, or the length of an array. */
export function addDouble(node: usize, tag: u32, value: f64): void {
  valueCount++
  const hash = hashDouble(load<u32>(node, SEED_LO), load<u32>(node, SEED_HI), tag, value)
  if (isTracing()) traceDouble(hash, node, tag, value)
  const slot = findDouble(hash, node, tag, value)
  if (slot >= 0) addSlot(<u32>slot)
  else addHashed(hash)
}

/** Adds null, false, true or an empty array, whose slot is looked up once per segment. `index` 0…3. */
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
 * Adds a text with its hash: ASCII bytes at `text`, or UTF-16 units when the tag has WIDE.
 * @param start its address in the input, where it has `bytes` bytes
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

/** Adds the hash of a value or a size. */
function addHashed(hash: u64): void {
  if (hashCount < MAX_HASHES) store<u64>(HASHES + (<usize>hashCount << 3), hash)
  hashCount++
  addRows(hash)
}

/**
 * Adds the hash of a fact: only to rows, since the upper level has no facts. Without rows, it is added to the hashes.
 */
function addHashedFact(hash: u64): void {
  if (hasRows()) addRows(hash)
  else addHashed(hash)
}

// @ts-ignore: decorator
@inline
function addRows(hash: u64): void {
  hashedCount++
  if (hasRows()) setRows(hash)
}
