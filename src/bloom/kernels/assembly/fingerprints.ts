/**
 * Buckets of fingerprints: codes and the positions of each, as written by sharded-bloom/segment/tail/codec.ts. The
 * contract of the kernels is in ../kernels.ts.
 *
 * Invariant: whatever the bytes are, only frames in the pointer list are read, and every loop ends at the end of the
 * bucket.
 */
import { setBit } from './gaps'

const FRAME_SHIFT: u32 = 13
const FRAME_MASK: u32 = 8191

/** State of the bucket being read: address of its frame pointers, end in bits, and position of the next bit. */
let frames: usize = 0
let end: u32 = 0
let at: u32 = 0
/** A read went past the end, or yielded a number that is invalid there. */
let isBad: bool = false
/** Size of the position of a code that has only one, in bits, and the number of positions. */
let positionBits: u32 = 0
let positions: u32 = 0

function begin(pointers: usize, from: u32, to: u32, documents: u32): void {
  frames = pointers
  at = from << 3
  end = to << 3
  isBad = false
  positions = documents
  positionBits = documents < 2 ? 0 : 32 - <u32>clz<u32>(documents - 1)
}

// @ts-ignore: decorator
@inline
function byteAt(byte: u32): usize {
  return <usize>load<u32>(frames + (<usize>(byte >>> FRAME_SHIFT) << 2)) + <usize>(byte & FRAME_MASK)
}

/** At least 57 bits from `at` on; bits beyond the bucket are arbitrary. */
// @ts-ignore: decorator
@inline
function peek(): u64 {
  const byte = at >>> 3
  if ((byte & FRAME_MASK) > FRAME_MASK - 7 || at >= end) return peekAcross(byte)
  return load<u64>(byteAt(byte)) >>> <u64>(at & 7)
}

function peekAcross(byte: u32): u64 {
  let word: u64 = 0
  for (let i: u32 = 0; i < 8 && ((byte + i) << 3) < end; i++) word |= <u64>load<u8>(byteAt(byte + i)) << <u64>(i << 3)
  return word >>> <u64>(at & 7)
}

/** Counts the zeros before the next one bit, and consumes it, too. */
// @ts-ignore: decorator
@inline
function readUnary(): u32 {
  const word = peek()
  if (word == 0) return readLongUnary()
  const zeros = <u32>ctz(word)
  at += zeros + 1
  return zeros
}

function readLongUnary(): u32 {
  let zeros: u32 = 0
  while (at < end) {
    const word = peek()
    if (word != 0) {
      zeros += <u32>ctz(word)
      at += <u32>ctz(word) + 1
      return zeros
    }
    // peek() has at least this many valid bits.
    at += 57
    zeros += 57
  }
  isBad = true
  return 0
}

// @ts-ignore: decorator
@inline
function readBits(count: u32): u32 {
  const bits = <u32>peek() & (<u32>(<u64>1 << <u64>count) - 1)
  at += count
  return bits
}

/** Elias gamma. */
// @ts-ignore: decorator
@inline
function readGamma(): u32 {
  const bits = readUnary()
  if (bits > 30) {
    isBad = true
    return 1
  }
  return bits == 0 ? 1 : (<u32>1 << bits) | readBits(bits)
}

/** A Rice-coded number; one above `most` is invalid, and `most` is returned. */
// @ts-ignore: decorator
@inline
function readRice(shift: u32, most: u32): u32 {
  const high = <u64>readUnary() << <u64>shift
  const number = high | <u64>readBits(shift)
  if (number <= <u64>most) return <u32>number
  isBad = true
  return most
}

// @ts-ignore: decorator
@inline
function floorLog2(number: u32): u32 {
  return 31 - <u32>clz<u32>(number)
}

/** The next position of several; `shift` as for the code. */
// @ts-ignore: decorator
@inline
function readPosition(next: u32, shift: u32): u32 {
  if (next >= positions) isBad = true
  const position = next + readRice(shift, positions)
  if (position < positions) return position
  isBad = true
  return 0
}

// @ts-ignore: decorator
@inline
function readOnlyPosition(): u32 {
  const position = readBits(positionBits)
  if (position < positions) return position
  isBad = true
  return 0
}

/**
 * Moves to a code of `width` bits.
 * @returns the number of positions that follow; 0 if the bucket does not have the code
 */
function seek(code: u32, width: u32): u32 {
  if (at == end) return 0
  const codes = readGamma()
  const last = (<u32>1 << width) - 1
  if (codes - 1 > last) {
    isBad = true
    return 0
  }
  const shift = floorLog2((last + 1) / codes)
  let next: u32 = 0
  for (let i: u32 = 0; i < codes; i++) {
    if (next > last) isBad = true
    const found = next + readRice(shift, last - next)
    const count = readGamma()
    if (isBad || at > end || count > positions) {
      isBad = true
      return 0
    }
    if (found >= code) return found == code ? count : 0
    next = found + 1
    if (count == 1) at += positionBits
    else skipPositions(count)
  }
  return 0
}

function skipPositions(count: u32): void {
  const shift = floorLog2(positions / count)
  for (; count != 0 && at < end; count--) {
    readUnary()
    at += shift
  }
}

export function fingerprintGroups(
  pointers: usize, from: u32, to: u32, width: u32, code: u32, documents: u32, groupShift: u32
): u32 {
  begin(pointers, from, to, documents)
  let groups: u32 = 0
  let count = seek(code, width)
  if (count == 1) groups = <u32>1 << (readOnlyPosition() >>> groupShift)
  else if (count > 1) {
    const shift = floorLog2(positions / count)
    let next: u32 = 0
    for (; count != 0 && !isBad; count--) {
      const position = readPosition(next, shift)
      groups |= <u32>1 << (position >>> groupShift)
      next = position + 1
    }
  }
  return isBad || at > end ? 0xffffffff : groups
}

export function fingerprintPositions(
  pointers: usize, from: u32, to: u32, width: u32, code: u32, documents: u32, out: usize
): i32 {
  begin(pointers, from, to, documents)
  const count = seek(code, width)
  if (count == 1) setBit(out, readOnlyPosition())
  else if (count > 1) {
    const shift = floorLog2(positions / count)
    let next: u32 = 0
    for (let i: u32 = 0; i < count && !isBad; i++) {
      const position = readPosition(next, shift)
      setBit(out, position)
      next = position + 1
    }
  }
  return isBad || at > end ? -1 : <i32>count
}

export function listFingerprints(
  pointers: usize, from: u32, to: u32, width: u32, documents: u32, out: usize, max: u32
): i32 {
  begin(pointers, from, to, documents)
  if (at == end) return 0
  const codes = readGamma()
  const last = (<u32>1 << width) - 1
  if (codes - 1 > last) return -1
  const codeShift = floorLog2((last + 1) / codes)
  let nextCode: u32 = 0
  let entries: u32 = 0
  for (let i: u32 = 0; i < codes; i++) {
    if (nextCode > last) return -1
    const code = nextCode + readRice(codeShift, last - nextCode)
    nextCode = code + 1
    const count = readGamma()
    if (isBad || at > end || count > positions || count > max - entries) return -1
    const shift = floorLog2(positions / count)
    let next: u32 = 0
    for (let j: u32 = 0; j < count; j++) {
      const position = count == 1 ? readOnlyPosition() : readPosition(next, shift)
      if (isBad) return -1
      store<u32>(out, code)
      store<u32>(out, position, 4)
      out += 8
      next = position + 1
    }
    entries += count
  }
  return at > end ? -1 : <i32>entries
}
