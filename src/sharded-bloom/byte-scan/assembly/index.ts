/**
 * One document's JSON bytes → its pairs, in one pass. The contract of every export stands in ../scanner-module.ts.
 *
 * Invariants:
 * 1. Nothing but nodes' memory of the last document changes before the document is known to be one that can be told
 *    exactly from its bytes.
 * 2. Nothing is read beyond the input and its padding, whatever the bytes are: every loop ends at a zero byte.
 */
import { noteNumber } from './columns'
import { INPUT, MAX_DEPTH, STACK } from './layout'
import {
  endOfKey,
  findNode,
  FIRST,
  hasKeyAt,
  KEY_LENGTH,
  NEXT,
  OBJECT,
  resetStamps,
  rootNode
} from './nodes'
import { scanNumber, scannedNumber } from './number'
import {
  addConstant,
  addDouble,
  addFact,
  addIrregular,
  areSlotsFull,
  beginDocument,
  hashedPairs as hashedPairsOfDocument,
  hasUnknownFact,
  isOverfull
} from './pairs'
import { scanText } from './text'
import { beginTrace, fillReserved, reserveTrace } from './trace'

export { addColumn } from './columns'
export * from './layout'
export { addNode, FACTS, IRREGULAR, resetFacts, resetNodes, rootNode } from './nodes'
export { addDoublePair, addTextPair, hashesLeft, isIrregular, resetPairs, setHashesFacts, slotCount, WIDE } from './pairs'
export { countSample, rehashSample, sampledMembers, sampledTextBytes, uncountedEntries } from './sample'
export { tracedCount } from './trace'

/** What the scan cannot tell: the document takes the way of objects. */
export const NOT_HANDLED: i32 = -1
/** As above, and the reason is a key or a fact that the next scan may know. */
export const UNKNOWN: i32 = -2

/** The text of the top-level `_id` is an ObjectId in hexadecimal. */
export const OBJECT_ID: u32 = 1
/** Extended JSON: keys with a `$` in front and integers beyond 2^53 mean more than they say. */
export const EXTENDED_JSON: u32 = 2
/** Leave the document's values at TRACE. */
export const TRACED: u32 = 4

const NULL_TYPE: u32 = 1
const NUMBER_TYPE: u32 = 2
const STRING_TYPE: u32 = 3
const OBJECT_TYPE: u32 = 4
const ARRAY_TYPE: u32 = 5
const OBJECT_ID_TYPE: u32 = 7
const BOOL_TYPE: u32 = 8
const SIZE_TAG: u32 = 16

/** A container around the one being read. An array has no link. */
const FRAME_NODE: usize = 0
const FRAME_LINK: usize = 4
/** Elements of an array so far, or the number of an object. */
const FRAME_COUNT: usize = 8
/** Of an array: where its size is traced. */
const FRAME_TRACE: usize = 12
const FRAME_BYTES: usize = 16

/** Numbers objects; a document has the number of its outermost one. */
let serial: u32 = 0
let idNode: usize = 0

export function setIdNode(node: usize): void {
  idNode = node
}

/** @returns hashed pairs of the document, or NOT_HANDLED, or UNKNOWN */
export function scan(offset: u32, length: u32, flags: u32): i32 {
  if (serial > 0xf0000000) {
    resetStamps()
    serial = 0
  }
  beginDocument(++serial)
  beginTrace((flags & TRACED) != 0)
  const start = INPUT + <usize>offset
  const end = start + <usize>length
  for (let i: usize = 0; i < 64; i += 16) v128.store(end + i, i64x2.splat(0))

  const objectIdNode = (flags & OBJECT_ID) != 0 ? idNode : 0
  const isExtended = (flags & EXTENDED_JSON) != 0
  let p = skipSpace(start)
  if (load<u8>(p) != 0x7b) return NOT_HANDLED
  p = skipSpace(p + 1)
  let frame = STACK
  let node = rootNode()
  // Where the next key's node is predicted; 0 in an array.
  let link = node + FIRST
  let count = serial
  let topLevel = node
  let isEmpty = load<u8>(p) == 0x7d

  while (true) {
    if (!isEmpty) {
      if (areSlotsFull()) return NOT_HANDLED
      let child = node
      if (link != 0) {
        if (load<u8>(p) != 0x22) return NOT_HANDLED
        p++
        if (isExtended && load<u8>(p) == 0x24) return NOT_HANDLED
        child = load<u32>(link)
        if (!hasKeyAt(child, p)) {
          // Perhaps without an optional key or two.
          child = load<u32>(child, NEXT)
          if (!hasKeyAt(child, p)) {
            child = load<u32>(child, NEXT)
            if (!hasKeyAt(child, p)) child = 0
          }
        }
        if (child != 0) p += <usize>load<u32>(child, KEY_LENGTH)
        else {
          const keyEnd = endOfKey(p)
          if (keyEnd == 0) return NOT_HANDLED
          child = findNode(node, p, keyEnd)
          if (child == 0) return UNKNOWN
          store<u32>(link, <u32>child)
          p = skipSpace(keyEnd + 1)
          if (load<u8>(p) != 0x3a) return NOT_HANDLED
          p++
        }
        if (load<u32>(child, OBJECT) == count) return NOT_HANDLED
        store<u32>(child, count, OBJECT)
        link = child + NEXT
        if (frame == STACK) topLevel = child
        p = skipSpace(p)
      } else count++

      const byte = <u32>load<u8>(p)
      if (byte == 0x22) {
        if (child == objectIdNode && link != 0) {
          if (!isObjectId(p + 1)) return NOT_HANDLED
          addFact(child, OBJECT_ID_TYPE)
          p = scanText(p + 1, child, OBJECT_ID_TYPE)
        } else {
          addFact(child, STRING_TYPE)
          p = scanText(p + 1, child, STRING_TYPE)
        }
        if (p == 0) return NOT_HANDLED
      } else if (byte - 0x30 < 10 || byte == 0x2d) {
        p = scanNumber(p, isExtended)
        if (p == 0) return NOT_HANDLED
        addFact(child, NUMBER_TYPE)
        addDouble(child, NUMBER_TYPE, scannedNumber())
        noteNumber(child, scannedNumber())
      } else if (byte == 0x7b || byte == 0x5b) {
        const isArray = byte == 0x5b
        if (frame == STACK + (MAX_DEPTH - 1) * FRAME_BYTES) return NOT_HANDLED
        if (isArray && link == 0) addIrregular(topLevel)
        addFact(child, isArray ? ARRAY_TYPE : OBJECT_TYPE)
        store<u32>(frame, <u32>node, FRAME_NODE)
        store<u32>(frame, <u32>link, FRAME_LINK)
        store<u32>(frame, count, FRAME_COUNT)
        if (isArray) store<u32>(frame, <u32>reserveTrace(), FRAME_TRACE)
        frame += FRAME_BYTES
        node = child
        link = isArray ? 0 : child + FIRST
        count = isArray ? 0 : ++serial
        p = skipSpace(p + 1)
        isEmpty = <u32>load<u8>(p) == byte + 2
        continue
      } else {
        p = scanLiteral(p, child)
        if (p == 0) return NOT_HANDLED
      }
      p = skipSpace(p)
      if (load<u8>(p) == 0x2c) {
        p = skipSpace(p + 1)
        continue
      }
    }
    // The end of one container or more.
    isEmpty = false
    while (true) {
      if (load<u8>(p) != (link != 0 ? 0x7d : 0x5d)) return NOT_HANDLED
      p = skipSpace(p + 1)
      if (link == 0) {
        fillReserved(load<u32>(frame - FRAME_BYTES, FRAME_TRACE))
        if (count == 0) addConstant(node, 3, SIZE_TAG, 0)
        else addDouble(node, SIZE_TAG, count)
      }
      if (frame == STACK) {
        if (p != end || isOverfull()) return NOT_HANDLED
        return hasUnknownFact() ? UNKNOWN : hashedPairsOfDocument()
      }
      frame -= FRAME_BYTES
      node = load<u32>(frame, FRAME_NODE)
      link = load<u32>(frame, FRAME_LINK)
      count = load<u32>(frame, FRAME_COUNT)
      if (load<u8>(p) == 0x2c) {
        p = skipSpace(p + 1)
        break
      }
    }
  }
}

/** null, true or false; returns the address behind it, or 0. */
function scanLiteral(p: usize, node: usize): usize {
  const four = load<u32>(p)
  if (four == 0x6c6c756e) {
    addFact(node, NULL_TYPE)
    addConstant(node, 0, NULL_TYPE, 0)
    return p + 4
  }
  if (four == 0x65757274) {
    addFact(node, BOOL_TYPE)
    addConstant(node, 2, BOOL_TYPE, 1)
    return p + 4
  }
  if (four != 0x736c6166 || load<u8>(p, 4) != 0x65) return 0
  addFact(node, BOOL_TYPE)
  addConstant(node, 1, BOOL_TYPE, 0)
  return p + 5
}

// @ts-ignore: decorator
@inline
function skipSpace(p: usize): usize {
  return load<u8>(p) > 0x20 ? p : skipSpaces(p)
}

function skipSpaces(p: usize): usize {
  let byte = <u32>load<u8>(p)
  while (byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09) byte = load<u8>(++p)
  return p
}

/** True for 24 lower-case hexadecimal digits and a quote. */
function isObjectId(p: usize): bool {
  for (let i: usize = 0; i < 24; i++) {
    const byte = <u32>load<u8>(p + i)
    if (byte - 0x30 >= 10 && byte - 0x61 >= 6) return false
  }
  return load<u8>(p, 24) == 0x22
}
