/**
 * The keys of an index's records. Numbers are big-endian, so that the records of a segment are adjacent within an area.
 *
 * | key                                   | record                                          |
 * | ------------------------------------- | ----------------------------------------------- |
 * | `h`                                   | header (see index-header.ts)                    |
 * | `s` first(8)                          | segment record (see segment-record.ts)          |
 * | `n` first(8)                          | private pairs of a sealed segment (pair-table.ts) |
 * | `i` first(8)                          | private pairs of an open segment (open-pairs.ts) |
 * | `r` first(8) frame(4)                 | hashed rows of a sealed segment, one frame      |
 * | `p` first(8) record(4)                | private row of a sealed segment                 |
 * | `k` first(8) record(4)                | keys of a sealed segment's columns              |
 * | `u` first(8) frame(4)                 | upper level of a sealed segment, one frame      |
 * | `f` first(8) frame(4)                 | fingerprints of a sealed segment, one frame     |
 * | `b` first(8) frame(4)                 | directory of its fingerprint buckets, one frame |
 * | `c` first(8) chunk(4) frame(4)        | hashed rows of an open segment's chunk, one frame |
 * | `g` first(8) chunk(4)                 | private rows of an open segment's chunk         |
 * | `v` first(8) chunk(4)                 | columns of an open segment's chunk              |
 * | `w` first(8) chunk(4)                 | upper level of an open segment's chunk          |
 * | `e` first(8) chunk(4) run(4)          | fingerprints of a run of a chunk's documents    |
 * | `l` first(8)                          | live bitmap                                     |
 * | `m` first(8)                          | position map of a rebuilt segment               |
 * | `o`                                   | leftovers (see rebuild/leftovers.ts)            |
 * | `d` ordinal(8)                        | dead mark of one document                       |
 * | `x` ordinal(8)                        | mark of a document written since its segment was built (scattered/) |
 * | `t`                                   | choice of parameters (see tune/stored-choice.ts), which no index clears |
 *
 * `a` is reserved for the collection (docstore/store/load-records.ts).
 *
 * `first` is the segment's first ordinal. Except in `s`, a rebuilt segment has another number in its place, at least
 * 2^52, which no ordinal reaches, so that its records can coexist with those of the segments it replaces.
 */

/** First number of rebuilt segments. */
export const firstRebuilt = 2 ** 52

export const IndexArea = {
  header: 0x68,
  segment: 0x73,
  pairTable: 0x6e,
  openPairs: 0x69,
  hashedRows: 0x72,
  privateRow: 0x70,
  columnKeys: 0x6b,
  upperLevel: 0x75,
  fingerprints: 0x66,
  buckets: 0x62,
  chunkRows: 0x63,
  chunkPrivate: 0x67,
  chunkColumns: 0x76,
  chunkUpper: 0x77,
  chunkFingerprints: 0x65,
  live: 0x6c,
  positions: 0x6d,
  leftovers: 0x6f,
  dead: 0x64,
  written: 0x78
} as const

export type IndexArea = (typeof IndexArea)[keyof typeof IndexArea]

export function indexKey(area: IndexArea, ordinal?: number, first?: number, second?: number): Uint8Array {
  if (ordinal === undefined) return Uint8Array.of(area)
  const key = new Uint8Array(first === undefined ? 9 : second === undefined ? 13 : 17)
  key[0] = area
  writeNumber(key, 1, Math.floor(ordinal / 2 ** 32))
  writeNumber(key, 5, ordinal % 2 ** 32)
  if (first !== undefined) writeNumber(key, 9, first)
  if (second !== undefined) writeNumber(key, 13, second)
  return key
}

/** Writes 32 bits, big-endian. */
function writeNumber(key: Uint8Array, at: number, number: number): void {
  key[at] = number >>> 24
  key[at + 1] = number >>> 16
  key[at + 2] = number >>> 8
  key[at + 3] = number
}

/** Returns [from, to), the range of all records of an area, or of one segment's records in it. */
export function indexRange(area: IndexArea, ordinal?: number): readonly [from: Uint8Array, to: Uint8Array] {
  if (ordinal === undefined) return [Uint8Array.of(area), Uint8Array.of(area + 1)]
  return [indexKey(area, ordinal), indexKey(area, ordinal + 1)]
}

/**
 * Returns [from, to), the range of all records of an area whose keys have an ordinal. It begins behind the letter alone,
 * which may be the separator after a store's block of records of the area before: that block is not read then.
 */
export function recordsOf(area: IndexArea): readonly [from: Uint8Array, to: Uint8Array] {
  return [Uint8Array.of(area, 0), Uint8Array.of(area + 1)]
}

/** Returns the ordinal in a key, or undefined if the key is too short. */
export function ordinalOf(key: Uint8Array): number | undefined {
  if (key.length < 9) return undefined
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength)
  return view.getUint32(1) * 2 ** 32 + view.getUint32(5)
}

/** Returns the i-th number after the ordinal, or undefined if the key is too short. */
export function numberOf(key: Uint8Array, i: number): number | undefined {
  if (key.length < 13 + 4 * i) return undefined
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(9 + 4 * i)
}
