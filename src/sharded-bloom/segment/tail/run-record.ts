/**
 * The record of a run of fingerprints, as a checkpoint writes it.
 *
 * | bytes | what                                                                       |
 * | ----- | -------------------------------------------------------------------------- |
 * | 2     | documents of the run, u16                                                  |
 * | 2     | s, u16: the run is in 2^s parts, by the leading bits of the code           |
 * | 4·2^s | bytes of each part, u32                                                    |
 * | …     | the parts, buckets as in codec.ts; positions count from the run's first    |
 */
import type { RowMemory } from '../../../bloom/kernels/index.ts'
import { frameBytes } from '../row-cache.ts'
import { BitWriter, encodeBucket } from './codec.ts'
import { type EntryRun, indexBits, runOf } from './entry-run.ts'

/** Takes a fraction of a millisecond to encode. */
const entriesPerPart = 4096
const headerBytes = 4

/** Encodes a run in steps. @param documents number of the run's documents to include */
export function* encodeRun(run: EntryRun, documents: number, bits: number): Generator<undefined, Uint8Array> {
  const part = documents < run.documents ? clipped(run, documents, bits) : run
  let splitBits = 0
  while (splitBits < indexBits && part.codes.length > entriesPerPart << splitBits) splitBits++
  const parts = 2 ** splitBits
  const lengths = new Uint32Array(parts)
  const pieces: Uint8Array[] = []
  const writer = new BitWriter()
  const indexes = 2 ** (indexBits - splitBits)
  for (let i = 0; i < parts; i++) {
    const from = part.starts[i * indexes]!
    const to = part.starts[(i + 1) * indexes]!
    encodeBucket(part, from, to, bits - splitBits, part.first, documents, writer)
    const piece = writer.take().slice()
    lengths[i] = piece.length
    pieces.push(piece)
    yield
  }
  const bytes = new Uint8Array(headerBytes + 4 * parts + pieces.reduce((sum, { length }) => sum + length, 0))
  bytes.set(new Uint8Array(Uint16Array.of(documents, splitBits).buffer))
  bytes.set(new Uint8Array(lengths.buffer), headerBytes)
  let at = headerBytes + 4 * parts
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

function clipped({ codes, positions, first }: EntryRun, documents: number, bits: number): EntryRun {
  const isKept = (_: number, i: number): boolean => positions[i]! < first + documents
  const kept = { codes: codes.filter(isKept), positions: positions.filter(isKept) }
  return runOf(kept, first, documents, bits)
}

/**
 * @param first the position of the run's first document
 * @param most maximum number of documents
 * @returns undefined for bytes that are not such a run
 */
export function decodeRun(
  bytes: Uint8Array,
  first: number,
  most: number,
  bits: number,
  memory: RowMemory
): EntryRun | undefined {
  if (bytes.length < headerBytes) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const documents = view.getUint16(0, true)
  const splitBits = view.getUint16(2, true)
  const parts = 2 ** splitBits
  if (documents === 0 || documents > most || splitBits > indexBits || bytes.length < headerBytes + 4 * parts) {
    return undefined
  }
  let at = headerBytes + 4 * parts
  const lists: Uint32Array[] = []
  for (let i = 0; i < parts; i++) {
    const length = view.getUint32(headerBytes + 4 * i, true)
    if (length > bytes.length - at) return undefined
    const list = listOf(bytes.subarray(at, at + length), bits - splitBits, documents, memory)
    if (list === undefined) return undefined
    lists.push(list)
    at += length
  }
  if (at !== bytes.length) return undefined
  const count = lists.reduce((sum, { length }) => sum + length / 2, 0)
  const entries = { codes: new Uint32Array(count), positions: new Uint16Array(count) }
  let entry = 0
  lists.forEach((list, i) => {
    const leading = i * 2 ** (bits - splitBits)
    for (let k = 0; k < list.length; k += 2) {
      entries.codes[entry] = leading + list[k]!
      entries.positions[entry++] = first + list[k + 1]!
    }
  })
  return runOf(entries, first, documents, bits)
}

/** Returns codes and positions in turn; undefined for bytes that are not a bucket, or one larger than a run has. */
function listOf(bytes: Uint8Array, width: number, documents: number, memory: RowMemory): Uint32Array | undefined {
  const { kernels, u8, u32, scratch, scratchEnd } = memory
  const frames = Math.ceil(bytes.length / frameBytes)
  if (4 * frames + bytes.length + 64 > scratchEnd - scratch) return undefined
  const pointers = memory.push(4 * frames)
  const from = memory.push(bytes.length)
  for (let i = 0; i < frames; i++) u32[(pointers >>> 2) + i] = from + i * frameBytes
  u8.set(bytes, from)
  const out = memory.scratch
  const most = Math.floor((scratchEnd - out) / 8)
  const count = kernels.listFingerprints(pointers, 0, bytes.length, width, documents, out, most)
  memory.pop(pointers)
  return count < 0 ? undefined : u32.slice(out >>> 2, (out >>> 2) + 2 * count)
}
