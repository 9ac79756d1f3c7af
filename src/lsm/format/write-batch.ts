/**
 * Write batches, as stored in a log record and in a memtable's arena: encoded once, never copied.
 *
 * A payload is one or more batches, one after another. A batch is its header (first sequence number, number of
 * operations) and its operations; operation i has sequence number first + i.
 *
 * Invariant: batches follow each other without gaps, within a payload, within a log and from log to log: each begins
 * with the sequence number after the last one of the previous batch. Recovery detects lost batches by the gap.
 */
import { copyBytes, copyShared } from '../../model/copy-bytes.ts'
import { corruption, type Place } from '../errors.ts'
import { readU32, readU53, writeU32, writeU53 } from './bytes.ts'
import { EntryKind, type EntryRanges, EntryRecord, maxSequence } from './entry.ts'
import { readVarint, varintBytes, writeVarint } from './varint.ts'

/** Bytes before a batch's operations. */
export const batchHeaderBytes = 12

/** Size of what encodePut() writes. */
export function encodedPutBytes(keyLength: number, valueLength: number): number {
  return 1 + varintBytes(keyLength) + keyLength + varintBytes(valueLength) + valueLength
}

/** Size of what encodeDelete() writes. */
export function encodedDeleteBytes(keyLength: number): number {
  return 1 + varintBytes(keyLength) + keyLength
}

/** From this many bytes on, a call into C++ beats a loop. */
const longCopy = 48

/**
 * Writes a batch header; returns the offset after it.
 * @param sequence of the first operation
 */
export function writeBatchHeader(target: Uint8Array, at: number, sequence: number, count: number): number {
  writeU53(target, at, sequence)
  writeU32(target, at + 8, count)
  return at + batchHeaderBytes
}

/**
 * Writes a put. Returns the offset after it, which is also the end of its value.
 * REQUIRES: room for encodedPutBytes(key.length, value.length).
 * @param target memory that threads share
 */
export function encodePut(target: Buffer, at: number, key: Uint8Array, value: Uint8Array): number {
  target[at] = EntryKind.put
  const keyEnd = copyInto(target, writeVarint(target, at + 1, key.length), key)
  const valueStart = writeVarint(target, keyEnd, value.length)
  copyShared(value, target, valueStart)
  return valueStart + value.length
}

/** Writes a delete. Returns the offset after it, which is also the end of its key. */
export function encodeDelete(target: Uint8Array, at: number, key: Uint8Array): number {
  target[at] = EntryKind.tombstone
  return copyInto(target, writeVarint(target, at + 1, key.length), key)
}

/** Receives an operation: ranges of the visited bytes, in a record that is reused for the next operation. */
export type OperationVisitor = (operation: EntryRanges) => void

/**
 * Visits the operations of the batches in bytes[start, end), in order.
 * @param place of the payload, for errors
 * @returns the sequence number with which the next batch has to begin; −1 if there is no batch
 * @throws LEVEL_CORRUPTION, after visiting the operations before the invalid one
 */
export function decodeBatches(
  bytes: Uint8Array,
  start: number,
  end: number,
  place: Place,
  visit: OperationVisitor
): number {
  if (start < 0 || end > bytes.length) throw corruption('batches extend beyond their buffer', place)
  const operation = new EntryRecord()
  operation.keyBytes = bytes
  operation.valueBytes = bytes
  let next = -1
  let at = start
  while (at < end) {
    const first = readFirstSequence(bytes, at, end, place)
    if (next !== -1 && first !== next) throw corruption(`batch begins with sequence ${first}, expected ${next}`, place)
    const count = readU32(bytes, at + 8)
    next = first + count
    if (next > maxSequence + 1)
      throw corruption(`${count} operations from sequence ${first} exceed the largest sequence number`, place)
    at += batchHeaderBytes
    for (let sequence = first; sequence < next; sequence++) {
      if (at >= end) throw truncated(at - start, place)
      const kind = bytes[at++]!
      if (kind !== EntryKind.put && kind !== EntryKind.tombstone)
        throw corruption(`operation of unknown kind ${kind}`, place)
      // Lengths are usually below 128, which is worth the branch.
      let length = at < end ? bytes[at]! : -1
      if (length >= 0x80) length = readVarint(bytes, at, end)
      const keyStart = at + varintBytes(length)
      if (length < 0 || length > end - keyStart) throw truncated(at - start, place)
      const keyEnd = keyStart + length
      at = keyEnd
      let valueStart = keyEnd
      if (kind === EntryKind.put) {
        length = at < end ? bytes[at]! : -1
        if (length >= 0x80) length = readVarint(bytes, at, end)
        valueStart = at + varintBytes(length)
        if (length < 0 || length > end - valueStart) throw truncated(at - start, place)
        at = valueStart + length
      }
      operation.keyStart = keyStart
      operation.keyEnd = keyEnd
      operation.sequence = sequence
      operation.kind = kind
      operation.valueStart = valueStart
      operation.valueEnd = at
      visit(operation)
    }
  }
  return next
}

/** The first sequence number of the batch at `at`. @throws LEVEL_CORRUPTION */
export function readFirstSequence(bytes: Uint8Array, at: number, end: number, place: Place): number {
  if (end - at < batchHeaderBytes) throw truncated(at, place)
  return readU53(bytes, at)
}

/** Copies the whole source to target[at, …); returns the offset after it. */
export function copyInto(target: Uint8Array, at: number, source: Uint8Array): number {
  // A whole array needs no view.
  if (source.length >= longCopy) target.set(source, at)
  else copyBytes(source, 0, source.length, target, at)
  return at + source.length
}

function truncated(at: number, place: Place): Error {
  return corruption(`batch truncated at byte ${at} of the payload`, place)
}
