/**
 * Scans one document's JSON bytes to its pairs, in one pass.
 *
 * Invariants:
 * 1. Until the document is known to be exactly determined by its bytes, nothing changes except the nodes' memory of the
 *    last document.
 * 2. Nothing beyond the input and its padding is read, whatever the bytes are: every loop ends at a zero byte.
 */
import {
  ARRAY_TYPE,
  EXTENDED_JSON,
  FRAME_BYTES,
  FRAME_COUNT,
  FRAME_LINK,
  FRAME_NODE,
  FRAME_TRACE,
  isObjectId,
  NOT_HANDLED,
  OBJECT_ID,
  OBJECT_ID_TYPE,
  OBJECT_TYPE,
  STRING_TYPE,
  TRACED,
  UNKNOWN,
  WRAPPED
} from './document'
import { INPUT, MAX_DEPTH, STACK } from './layout'
import {
  documentStamp,
  endOfKey,
  findNode,
  FIRST,
  hasKeyAt,
  KEY_LENGTH,
  NEXT,
  OBJECT,
  nodeOfId,
  objectStamp,
  rootNode
} from './nodes'
import { scanNumber, scannedNumber } from './number'
import {
  addFact,
  addIrregular,
  areSlotsFull,
  beginDocument,
  hashedPairs as hashedPairsOfDocument,
  hasUnknownFact,
  isOverfull
} from './pairs'
import { scanText } from './text'
import { beginTrace, reserveTrace } from './trace'
import { addBoolean, addNull, addNumber, addSize } from './values'
import { beginWrappers, scanWrapper } from './wrappers'

/** @returns the number of the document's hashed pairs, or NOT_HANDLED, or UNKNOWN */
export function scan(offset: u32, length: u32, flags: u32): i32 {
  const stamp = documentStamp()
  beginDocument(stamp)
  beginTrace((flags & TRACED) != 0)
  beginWrappers()
  const start = INPUT + <usize>offset
  const end = start + <usize>length
  for (let i: usize = 0; i < 64; i += 16) v128.store(end + i, i64x2.splat(0))

  const objectIdNode = (flags & OBJECT_ID) != 0 ? nodeOfId() : 0
  const isExtended = (flags & EXTENDED_JSON) != 0
  const readsWrappers = (flags & (EXTENDED_JSON | WRAPPED)) != 0
  let p = skipSpace(start)
  if (load<u8>(p) != 0x7b) return NOT_HANDLED
  p = skipSpace(p + 1)
  let frame = STACK
  let node = rootNode()
  // The address that predicts the next key's node; 0 in an array.
  let link = node + FIRST
  let count = stamp
  let topLevel = node
  let isEmpty = load<u8>(p) == 0x7d

  while (true) {
    if (!isEmpty) {
      if (areSlotsFull()) return NOT_HANDLED
      let child = node
      if (link != 0) {
        if (load<u8>(p) != 0x22) return NOT_HANDLED
        p++
        if (readsWrappers && load<u8>(p) == 0x24) return NOT_HANDLED
        child = load<u32>(link)
        if (!hasKeyAt(child, p)) {
          // An optional key or two may be missing.
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
        addNumber(child, scannedNumber())
      } else if (byte == 0x7b && readsWrappers && load<u16>(p, 1) == 0x2422) {
        p = scanWrapper(p, child)
        if (p == 0) return NOT_HANDLED
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
        count = isArray ? 0 : objectStamp()
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
    // The end of one or more containers.
    isEmpty = false
    while (true) {
      if (load<u8>(p) != (link != 0 ? 0x7d : 0x5d)) return NOT_HANDLED
      p = skipSpace(p + 1)
      if (link == 0) addSize(node, count, load<u32>(frame - FRAME_BYTES, FRAME_TRACE))
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

/** As scan(), for a document with others after it: restores the bytes that scan() clears there. */
export function scanAmong(offset: u32, length: u32, flags: u32): i32 {
  const end = INPUT + <usize>offset + <usize>length
  const a = v128.load(end)
  const b = v128.load(end, 16)
  const c = v128.load(end, 32)
  const d = v128.load(end, 48)
  const result = scan(offset, length, flags)
  v128.store(end, a)
  v128.store(end, b, 16)
  v128.store(end, c, 32)
  v128.store(end, d, 48)
  return result
}

/** Scans null, true or false; returns the address after it, or 0. */
function scanLiteral(p: usize, node: usize): usize {
  const four = load<u32>(p)
  if (four == 0x6c6c756e) {
    addNull(node)
    return p + 4
  }
  if (four == 0x65757274) {
    addBoolean(node, true)
    return p + 4
  }
  if (four != 0x736c6166 || load<u8>(p, 4) != 0x65) return 0
  addBoolean(node, false)
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
