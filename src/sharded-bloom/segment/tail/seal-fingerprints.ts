/**
 * Merges runs of fingerprints into the buckets of a sealed segment: collects the entries of all runs by leading bits of
 * the code, sorts them and encodes them bucket by bucket. Takes n log n, however entries are distributed.
 */
import { IndexArea, indexKey } from '../../records/index-keys.ts'
import type { ScratchArena } from '../../records/scratch-arena.ts'
import { frameBytes } from '../row-cache.ts'
import type { FingerprintRecord } from '../segment-record.ts'
import { BitWriter, type Entries, encodeBucket } from './codec.ts'
import { type EntryRun, indexBits, sortEntries } from './entry-run.ts'
import { maxBucketBits } from './limits.ts'
import type { TailWrite } from './tail.ts'

/** Minimum entries per evenly filled bucket; the maximum is twice that. A lookup decodes half a bucket on average. */
const entriesPerBucket = 96
/** Buckets per directory frame, which holds the start of each and the end of the last, u32 each. */
export const bucketsPerFrame = frameBytes / 4 - 1

/** Number of leading code bits that give the bucket, for this many entries. */
function bucketBitsFor(entries: number): number {
  return Math.min(maxBucketBits, Math.floor(Math.log2(Math.max(1, entries / entriesPerBucket))))
}

/**
 * @param entries of all runs
 * @param documents of the segment
 * @param bits H
 */
export function* sealedFingerprints(
  runs: readonly EntryRun[],
  entries: number,
  storedAt: number,
  documents: number,
  bits: number,
  arena: () => ScratchArena
): Generator<TailWrite | undefined, FingerprintRecord> {
  const bucketBits = bucketBitsFor(entries)
  const width = bits - bucketBits
  const stream = new FrameStream(storedAt, arena)
  const ends = new Uint32Array(2 ** bucketBits + 1)
  const writer = new BitWriter()
  for (const list of mergedLists(runs, bits, Math.min(bucketBits, indexBits))) {
    yield
    const { codes } = list
    for (let from = 0; from < codes.length; ) {
      const bucket = codes[from]! >>> width
      let to = from + 1
      while (to < codes.length && codes[to]! >>> width === bucket) to++
      encodeBucket(list, from, to, width, 0, documents, writer)
      yield* stream.append(writer.take())
      ends[bucket + 1] = stream.bytes
      from = to
    }
  }
  yield* stream.end()
  for (let bucket = 1; bucket < ends.length; bucket++) ends[bucket] = Math.max(ends[bucket]!, ends[bucket - 1]!)
  yield* directoryWrites(storedAt, ends, arena)
  return { bits, bucketBits, bytes: stream.bytes }
}

/** Yields the entries of all runs by code, in lists by the first `listBits` bits of it. */
function* mergedLists(runs: readonly EntryRun[], bits: number, listBits: number): Generator<Entries> {
  const indexes = 2 ** (indexBits - listBits)
  for (let list = 0; list < 2 ** listBits; list++) {
    let count = 0
    for (const { starts } of runs) count += starts[(list + 1) * indexes]! - starts[list * indexes]!
    const merged = { codes: new Uint32Array(count), positions: new Uint16Array(count) }
    let at = 0
    for (const { codes, positions, starts } of runs) {
      for (let i = starts[list * indexes]!; i < starts[(list + 1) * indexes]!; i++) {
        merged.codes[at] = codes[i]!
        merged.positions[at++] = positions[i]!
      }
    }
    // Runs ascend by position without duplicates, so the merged list has none either.
    yield sortEntries(merged, count, bits - listBits)
  }
}

/** Cuts a byte stream into frames. */
class FrameStream {
  bytes = 0
  readonly #storedAt: number
  readonly #arena: () => ScratchArena
  readonly #frame = new Uint8Array(frameBytes)

  constructor(storedAt: number, arena: () => ScratchArena) {
    this.#storedAt = storedAt
    this.#arena = arena
  }

  *append(bytes: Uint8Array): Generator<TailWrite> {
    for (let from = 0; from < bytes.length; ) {
      const at = this.bytes % frameBytes
      const taken = Math.min(bytes.length - from, frameBytes - at)
      this.#frame.set(bytes.subarray(from, from + taken), at)
      from += taken
      this.bytes += taken
      if (this.bytes % frameBytes === 0) yield this.#write(frameBytes)
    }
  }

  /** Writes the last, partial frame. */
  *end(): Generator<TailWrite> {
    if (this.bytes % frameBytes > 0) yield this.#write(this.bytes % frameBytes)
  }

  #write(length: number): TailWrite {
    const number = Math.ceil(this.bytes / frameBytes) - 1
    const value = this.#arena().copyOf(this.#frame.subarray(0, length))
    return { key: indexKey(IndexArea.fingerprints, this.#storedAt, number), value }
  }
}

function* directoryWrites(storedAt: number, ends: Uint32Array, arena: () => ScratchArena): Generator<TailWrite> {
  const buckets = ends.length - 1
  for (let frame = 0; frame * bucketsPerFrame < buckets; frame++) {
    const first = frame * bucketsPerFrame
    const offsets = ends.subarray(first, Math.min(first + bucketsPerFrame, buckets) + 1)
    const value = arena().copyOf(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength))
    yield { key: indexKey(IndexArea.buckets, storedAt, frame), value }
  }
}
