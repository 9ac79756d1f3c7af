/**
 * Writes a document, walked in JavaScript, as UTF-8 JSON and finds its pairs on the way, so that it need not be scanned
 * again. Both are identical to what JSON.stringify and an encoder, and then scan(), produce.
 *
 * Invariants:
 * 1. Nothing is written beyond the room for the input and its padding, whatever the operations are.
 * 2. A piece's node, once found, is that of the path of the piece's key: pieces and nodes are reset together.
 */
import {
  ARRAY_TYPE,
  FRAME_BYTES,
  FRAME_COUNT,
  FRAME_NODE,
  FRAME_TRACE,
  NOT_HANDLED,
  OBJECT_ID_TYPE,
  OBJECT_TYPE,
  SCANNED,
  STRING_TYPE,
  TRACED,
  UNKNOWN,
  WRAPPED
} from './document'
import { beginObjectId, copyPiece, QUOTE, writeDate, writeInteger, writeText } from './json-text'
import { INPUT, MAX_DEPTH, MAX_INPUT, NUMBERS, OPERATIONS, PIECE_BYTES, PIECE_NODE, STACK, TEXT_UNITS } from './layout'
import { documentStamp, findNode, rootNode } from './nodes'
import {
  addFact,
  addIrregular,
  areSlotsFull,
  beginDocument,
  hashedPairs,
  hasUnknownFact,
  isOverfull
} from './pairs'
import { addWrittenText } from './text'
import { beginTrace, reserveTrace } from './trace'
import { addBoolean, addDate, addNull, addNumber, addSize } from './values'

/** Kinds of operations, in the low four bits; the others are the address of the key's piece. */
export const TEXT: u32 = 0
export const INT32: u32 = 1
export const INTEGER: u32 = 2
export const VERBATIM: u32 = 3
export const NULL: u32 = 4
export const FALSE: u32 = 5
export const TRUE: u32 = 6
export const BEGIN_OBJECT: u32 = 7
export const BEGIN_ARRAY: u32 = 8
export const END_OBJECT: u32 = 9
export const END_ARRAY: u32 = 10
export const DATE: u32 = 11
/** An ObjectId, whose digits are the next 24 units. */
export const OBJECT_ID_TEXT: u32 = 12
export const PIECE_SHIFT: u32 = 4

/** Returned by write() for a document with wrappers and a key that may look like one; −1 when there is no room. */
export const NOT_PLAIN: i32 = -2
const NO_ROOM: i32 = -1

const DIGITS_OF_ID: u32 = 24
const DOLLAR: u32 = 0x24

/** Element count of an object, which has no elements. */
const NO_ARRAY: u32 = 0xffffffff

const INPUT_END: usize = INPUT + MAX_INPUT

/** For the document last written: its number of hashed pairs, or the reason why it is not known. */
let result: i32 = 0

export function scannedPairs(): i32 {
  return result
}

export function write(start: u32, count: u32, flags: u32): i32 {
  result = NOT_HANDLED
  // Whether pairs are still being found; if not, `result` says why.
  let scans = (flags & SCANNED) != 0
  if (scans) {
    beginDocument(documentStamp())
    beginTrace((flags & TRACED) != 0)
  }
  const isWrapped = (flags & WRAPPED) != 0
  let frame = STACK
  // State of the current container.
  let node = rootNode()
  let elements = NO_ARRAY
  let topLevel = node

  let out = INPUT + <usize>start
  store<u8>(out++, 0x7b)
  let units = TEXT_UNITS
  let numbers = NUMBERS
  let operation = OPERATIONS
  const end = OPERATIONS + (<usize>count << 2)
  while (operation < end) {
    if (out > INPUT_END) return NO_ROOM
    const word = load<u32>(operation)
    operation += 4
    const kind = word & 15
    if (kind == END_OBJECT || kind == END_ARRAY) {
      store<u8>(out++, kind == END_OBJECT ? 0x7d : 0x5d)
      if (scans && frame != STACK) {
        frame -= FRAME_BYTES
        if (kind == END_ARRAY) addSize(node, elements, load<u32>(frame, FRAME_TRACE))
        node = load<u32>(frame, FRAME_NODE)
        elements = load<u32>(frame, FRAME_COUNT)
      }
      continue
    }
    // No comma only after an opening bracket or brace.
    const last = <u32>load<u8>(out - 1) | 0x20
    store<u8>(out, 0x2c)
    out += <usize>(last != 0x7b)
    const piece = <usize>(word >>> PIECE_SHIFT)
    if (piece != 0) {
      // The first character between the quotes.
      if (isWrapped && load<u8>(piece, PIECE_BYTES + 1) == DOLLAR) return NOT_PLAIN
      out = copyPiece(piece, out)
    }

    let child = node
    if (scans) {
      if (piece != 0) {
        child = nodeOf(piece, node)
        if (frame == STACK) topLevel = child
      } else elements++
      if (child == 0) result = UNKNOWN
      scans = child != 0 && !areSlotsFull()
    }

    if (kind == TEXT) {
      const length = load<u32>(operation)
      operation += 4
      if (out + 6 * <usize>length > INPUT_END) return NO_ROOM
      store<u8>(out++, QUOTE)
      const text = out
      out = writeText(units, units + (<usize>length << 1), text)
      store<u8>(out++, QUOTE)
      if (scans) {
        addFact(child, STRING_TYPE)
        scans = addWrittenText(child, STRING_TYPE, units, length, text, <u32>(out - 1 - text))
      }
      units += <usize>length << 1
    } else if (kind <= VERBATIM) {
      let value: f64
      if (kind == INT32) {
        const integer = load<i32>(operation)
        operation += 4
        store<u8>(out, 0x2d)
        out = writeInteger(<u64>(integer < 0 ? -<i64>integer : <i64>integer), out + <usize>(integer < 0))
        value = <f64>integer
      } else {
        value = load<f64>(numbers)
        numbers += 8
        if (kind == INTEGER) {
          store<u8>(out, 0x2d)
          out = writeInteger(<u64>Math.abs(value), out + <usize>(value < 0))
        } else {
          const length = <usize>load<u32>(operation)
          operation += 4
          for (let i: usize = 0; i < length; i++) store<u8>(out + i, <u8>load<u16>(units + (i << 1)))
          out += length
          units += length << 1
        }
      }
      if (scans) addNumber(child, value)
    } else if (kind >= DATE) {
      if (kind == DATE) {
        const time = load<f64>(numbers)
        numbers += 8
        out = writeDate(time, out)
        if (scans) addDate(child, time)
      } else {
        const text = isWrapped ? beginObjectId(out) : out + 1
        store<u8>(text - 1, QUOTE)
        out = writeText(units, units + (DIGITS_OF_ID << 1), text)
        store<u16>(out, 0x7d22)
        out += 1 + <usize>isWrapped
        if (scans) {
          addFact(child, OBJECT_ID_TYPE)
          scans = addWrittenText(child, OBJECT_ID_TYPE, units, DIGITS_OF_ID, text, DIGITS_OF_ID)
        }
        units += DIGITS_OF_ID << 1
      }
    } else if (kind <= TRUE) {
      if (kind == NULL) store<u32>(out, 0x6c6c756e)
      else if (kind == TRUE) store<u32>(out, 0x65757274)
      else store<u64>(out, 0x65736c6166)
      out += 4 + <usize>(kind == FALSE)
      if (scans) {
        if (kind == NULL) addNull(child)
        else addBoolean(child, kind == TRUE)
      }
    } else {
      const isArray = kind == BEGIN_ARRAY
      store<u8>(out++, isArray ? 0x5b : 0x7b)
      if (scans) {
        if (frame == STACK + (MAX_DEPTH - 1) * FRAME_BYTES) {
          scans = false
          continue
        }
        if (isArray && piece == 0) addIrregular(topLevel)
        addFact(child, isArray ? ARRAY_TYPE : OBJECT_TYPE)
        store<u32>(frame, <u32>node, FRAME_NODE)
        store<u32>(frame, elements, FRAME_COUNT)
        if (isArray) store<u32>(frame, <u32>reserveTrace(), FRAME_TRACE)
        frame += FRAME_BYTES
        node = child
        elements = isArray ? 0 : NO_ARRAY
      }
    }
  }
  if (scans) result = isOverfull() ? NOT_HANDLED : hasUnknownFact() ? UNKNOWN : hashedPairs()
  return out > INPUT_END ? NO_ROOM : <i32>(out - INPUT)
}

/** The node of the piece's key below `parent`, or 0. */
// @ts-ignore: decorator
@inline
function nodeOf(piece: usize, parent: usize): usize {
  const node = load<u32>(piece, PIECE_NODE)
  return node != 0 ? node : findNodeOf(piece, parent)
}

function findNodeOf(piece: usize, parent: usize): usize {
  // The key between its quotes.
  const key = piece + PIECE_BYTES + 1
  const node = findNode(parent, key, key + <usize>load<u16>(piece) - 3)
  store<u32>(piece, <u32>node, PIECE_NODE)
  return node
}
