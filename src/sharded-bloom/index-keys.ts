/**
 * Keys of the records that an index keeps in its store. Big-endian, so that records of one segment stand together.
 *
 * | key                                   | record                                          |
 * | ------------------------------------- | ----------------------------------------------- |
 * | `h`                                   | header (see index-header.ts)                    |
 * | `s` first(8)                          | segment record (see segment-record.ts)          |
 * | `r` first(8) frame(4)                 | hashed rows of a sealed segment, one frame      |
 * | `p` first(8) record(4)                | private row of a sealed segment                 |
 * | `c` first(8) chunk(4) frame(4)        | hashed rows of an open segment's chunk, a frame |
 * | `g` first(8) chunk(4)                 | private rows of an open segment's chunk         |
 * | `l` first(8)                          | live bitmap                                     |
 * | `d` ordinal(8)                        | dead mark of one document                       |
 */

export const IndexArea = {
  header: 0x68,
  segment: 0x73,
  hashedRows: 0x72,
  privateRow: 0x70,
  chunkRows: 0x63,
  chunkPrivate: 0x67,
  live: 0x6c,
  dead: 0x64
} as const

export type IndexArea = (typeof IndexArea)[keyof typeof IndexArea]

export function indexKey(area: IndexArea, ordinal?: number, ...numbers: number[]): Uint8Array {
  if (ordinal === undefined) return Uint8Array.of(area)
  const key = new Uint8Array(9 + 4 * numbers.length)
  const view = new DataView(key.buffer)
  key[0] = area
  view.setUint32(1, Math.floor(ordinal / 2 ** 32))
  view.setUint32(5, ordinal >>> 0)
  numbers.forEach((number, i) => {
    view.setUint32(9 + 4 * i, number)
  })
  return key
}

/** [from, to) of every record of an area, or of one segment's records in it. */
export function indexRange(area: IndexArea, ordinal?: number): readonly [from: Uint8Array, to: Uint8Array] {
  if (ordinal === undefined) return [Uint8Array.of(area), Uint8Array.of(area + 1)]
  return [indexKey(area, ordinal), indexKey(area, ordinal + 1)]
}

/** The ordinal in a key of an area, or undefined for a key that is too short. */
export function ordinalOf(key: Uint8Array): number | undefined {
  if (key.length < 9) return undefined
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength)
  return view.getUint32(1) * 2 ** 32 + view.getUint32(5)
}

/** The i-th number after the ordinal. */
export function numberOf(key: Uint8Array, i: number): number | undefined {
  if (key.length < 13 + 4 * i) return undefined
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(9 + 4 * i)
}
