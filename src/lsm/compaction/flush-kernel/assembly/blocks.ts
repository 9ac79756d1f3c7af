/**
 * Builds a table's data blocks, contiguous in the output, and the contents of its index. The bytes equal those that
 * format/table-builder.ts would write.
 *
 * REQUIRES: no block is longer than an LZ4 chunk.
 */
import { copy } from '../../../format/lz4/assembly/copy'
import { compress, INPUT } from '../../../format/lz4/assembly/index'
import { placeSeed } from './place-seed'
import { keyLengthOf, keyOf, kindOf, sequenceOf, sharedBytes, valueLengthOf, valueOf } from './entries'

const TRAILER_BYTES: usize = 5
/** See format/block-compressor.ts. */
const PATIENCE: u32 = 4
const MAX_SKIPPED: u32 = 64
const SMALLEST_BYTES: u32 = 64
const LZ4_HEADER_BYTES: u32 = 4
/** Longer copies are left to memory.copy(). */
const SHORT_COPY: u32 = 128

let blockBytes: u32 = 0
let restartInterval: u32 = 0
let isCompressed: bool = false
let outputAt: usize = 0
let endsAt: usize = 0
let restartsAt: usize = 0
let handlesAt: usize = 0
let separatorsAt: usize = 0

/** Number of the table's file. */
let fileNumber: u32 = 0
/** Bytes of the file that were already written and are no longer in the output. */
let writtenBytes: u64 = 0
/** End of the complete blocks in the output; the bytes after it are free. */
let end: usize = 0

/** Number of complete blocks in the output. */
export let outputBlocks: u32 = 0

/** Of the last compressed block's size: most blocks need as many, and are compressed to their final place. */
let expectedVarintBytes: u32 = 2

/** State of the block under construction, which is at INPUT. */
let blockEnd: usize = 0
let restarts: u32 = 0
let sinceRestart: u32 = 0
/** Payload bytes of the block that is waiting for its separator; 0: none. */
let endedBytes: u32 = 0

export let blockCount: u32 = 0
export let compressedBlocks: u32 = 0
export let separatorBytes: u32 = 0
/** Consecutive blocks that did not shrink, and blocks still to be skipped. */
export let failures: u32 = 0
export let skip: u32 = 0

/** The last key. */
export let lastKey: usize = 0
export let lastLength: u32 = 0

/** Sets the addresses of the areas: see the layout in ../flush-kernel.ts. */
export function setBlocks(output: usize, ends: usize, restartOffsets: usize, handles: usize, separators: usize): void {
  outputAt = output
  endsAt = ends
  restartsAt = restartOffsets
  handlesAt = handles
  separatorsAt = separators
}

export function setBlockOptions(bytes: u32, interval: u32, lz4: bool): void {
  blockBytes = bytes
  restartInterval = interval
  isCompressed = lz4
}

/** Starts a file with an empty output. */
export function beginBlocks(number: u32): void {
  fileNumber = number
  writtenBytes = 0
  end = outputAt
  outputBlocks = 0
  blockEnd = INPUT
  restarts = 0
  endedBytes = 0
  blockCount = 0
  compressedBlocks = 0
  separatorBytes = 0
  failures = 0
  skip = 0
}

/** Whether no block is under construction. */
export function isBetweenBlocks(): bool {
  return restarts == 0
}

/** Bytes in the output, including the block under construction. */
export function outputBytes(): u32 {
  return <u32>(end - outputAt + (blockEnd - INPUT))
}

/** Empties the output after it was written to the file. REQUIRES: no block is under construction. */
export function outputWritten(): void {
  writtenBytes += <u64>(end - outputAt)
  end = outputAt
  outputBlocks = 0
}

@inline
function varintBytes(value: u32): u32 {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
}

@inline
function writeVarint(to: usize, value: u64): usize {
  while (value >= 0x80) {
    store<u8>(to++, <u8>value | 0x80)
    value >>= 7
  }
  store<u8>(to, <u8>value)
  return to + 1
}

@inline
function copyAny(from: usize, to: usize, length: u32): void {
  if (length > SHORT_COPY) memory.copy(to, from, <usize>length)
  else copy(from, to, length)
}

/** @param shared length of the prefix that the key has in common with the last one */
export function addEntry(entry: usize, shared: u32): void {
  const key = keyOf(entry)
  const keyLength = keyLengthOf(entry)
  const value = valueOf(entry)
  const valueLength = valueLengthOf(entry)
  const isLarge = valueLength >= blockBytes
  if (isLarge && restarts > 0) endBlock()
  if (endedBytes > 0) separate(key, keyLength, shared, valueLength)

  let kept = shared
  if (restarts == 0 || sinceRestart == restartInterval) {
    store<u32>(restartsAt + (<usize>(restarts++) << 2), <u32>(blockEnd - INPUT))
    sinceRestart = 0
    kept = 0
  }
  sinceRestart++
  let to = writeVarint(blockEnd, kept)
  to = writeVarint(to, keyLength - kept)
  to = writeVarint(to, valueLength)
  to = writeVarint(to, (sequenceOf(entry) << 1) + kindOf(entry))
  copyAny(key + <usize>kept, to, keyLength - kept)
  to += <usize>(keyLength - kept)
  copyAny(value, to, valueLength)
  blockEnd = to + <usize>valueLength
  lastKey = key
  lastLength = keyLength
  if (isLarge || <u32>(blockEnd - INPUT) + 4 * restarts + 4 >= blockBytes) endBlock()
}

/** Ends the last block, whose separator is the last key. */
export function endBlocks(): void {
  if (restarts > 0) endBlock()
  if (endedBytes > 0) addHandle(lastKey, lastLength)
}

function endBlock(): void {
  const bytes = <usize>restarts << 2
  memory.copy(blockEnd, restartsAt, bytes)
  store<u32>(blockEnd + bytes, restarts)
  const length = <u32>(blockEnd - INPUT + bytes) + 4
  blockEnd = INPUT
  restarts = 0

  const start = end
  const offset = writtenBytes + <u64>(start - outputAt)
  end = compressBlock(length)
  const isSmaller = end != start
  if (isSmaller) compressedBlocks++
  else {
    memory.copy(start, INPUT, <usize>length)
    end = start + <usize>length
  }
  endedBytes = <u32>(end - start)
  store<u8>(end, <u8>isSmaller)
  // The seed of the checksum: the host replaces it with the checksum of the preceding bytes.
  store<u32>(end, placeSeed(fileNumber, offset), 1)
  end += TRAILER_BYTES
  store<u32>(endsAt + (<usize>(outputBlocks++) << 2), <u32>(end - outputAt))
}

/** Appends the compressed form of the block at INPUT to the output; returns its end, or `end` if compression did not pay. */
function compressBlock(length: u32): usize {
  if (!isCompressed || length < SMALLEST_BYTES) return end
  if (skip > 0) {
    skip--
    return end
  }
  const limit = length - (length >> 3)
  const expectedAt = end + <usize>(LZ4_HEADER_BYTES + expectedVarintBytes)
  const bytes = compress(length, limit - LZ4_HEADER_BYTES - varintBytes(limit), expectedAt)
  if (bytes == 0) {
    if (++failures >= PATIENCE) {
      const doublings = failures - PATIENCE + 2
      skip = doublings >= 6 ? MAX_SKIPPED : 1 << doublings
    }
    return end
  }
  failures = 0
  store<u32>(end, length)
  const to = end + <usize>LZ4_HEADER_BYTES + <usize>varintBytes(bytes)
  if (to != expectedAt) {
    expectedVarintBytes = varintBytes(bytes)
    memory.copy(to, expectedAt, <usize>bytes)
  }
  writeVarint(end + <usize>LZ4_HEADER_BYTES, bytes)
  return to + <usize>bytes
}

/** Adds the ended block with its separator, now that the following entry is known: see format/separator.ts. */
function separate(next: usize, nextLength: u32, shared: u32, nextValueLength: u32): void {
  const short = shared + 1
  const byLast = endedBytes > 2 * blockBytes && endedBytes > nextValueLength
  if (byLast || short >= lastLength) addHandle(lastKey, lastLength)
  else if (short < nextLength) addHandle(next, short)
  else if (<u32>load<u8>(lastKey + <usize>shared) + 1 >= <u32>load<u8>(next + <usize>shared)) addHandle(lastKey, lastLength)
  else {
    addHandle(lastKey, short)
    const byte = separatorsAt + <usize>separatorBytes - 1
    store<u8>(byte, load<u8>(byte) + 1)
  }
  endedBytes = 0
}

function addHandle(separator: usize, length: u32): void {
  memory.copy(separatorsAt + <usize>separatorBytes, separator, <usize>length)
  separatorBytes += length
  const handle = handlesAt + (<usize>(blockCount++) << 3)
  store<u32>(handle, endedBytes)
  store<u32>(handle, separatorBytes, 4)
}

/** Length of the prefix that a key has in common with the last one. */
@inline
export function sharedWithLast(key: usize, length: u32): u32 {
  return sharedBytes(lastKey, key, min<u32>(lastLength, length))
}
