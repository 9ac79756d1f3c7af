/**
 * Bit operations over rows in WebAssembly memory, using SIMD throughout.
 *
 * Contract of every kernel:
 * 1. An address is a byte offset in the RowMemory, a multiple of 16; a length is in bytes, a multiple of 16. Kernels
 *    with weaker requirements say so. Nothing is checked: a wrong address overwrites another row.
 * 2. Bit p of a row is bit (p & 7) of its byte p >> 3, which makes it bit (p & 63) of the little-endian word p >> 6.
 * 3. An output may be one of the inputs; rows must not overlap partly.
 * 4. No kernel allocates, retains an address, or runs longer than a few microseconds per 64 KiB.
 */

/** Positions that enumerate() may overwrite beyond the last. */
export const enumerateSlack = 66

export interface Kernels {
  /**
   * out = AND of `count` rows, in one pass. No rows: all ones.
   * @param pointers address of the rows' addresses, `count` × u32, 4-aligned
   * @returns 1 if any bit of `out` is set, else 0
   */
  andRows(pointers: number, count: number, out: number, bytes: number): 0 | 1

  /**
   * The subset of `groups` in whose part the AND of the rows has a bit set; the AND is not stored.
   * @param groups one bit each; the part of group g is the `groupBytes` bytes from g · groupBytes on
   * @param bytes length of a row, at which a group's part is cut off
   */
  groupsWithBits(pointers: number, count: number, groups: number, groupBytes: number, bytes: number): number

  /** out = a & b */
  and(a: number, b: number, out: number, bytes: number): void
  /** out = a | b */
  or(a: number, b: number, out: number, bytes: number): void
  /** out = a & ~b */
  andNot(a: number, b: number, out: number, bytes: number): void
  /** out = ~a. Also sets bits beyond the last document: follow with clearFrom. */
  not(a: number, out: number, bytes: number): void

  /** Sets every byte to `byte`; any address and length. */
  fill(address: number, byte: number, bytes: number): void
  /** Copies like memmove; any addresses and length, overlapping or not. */
  copy(from: number, to: number, bytes: number): void
  /** Clears every bit at position ≥ bits; `bits` is arbitrary, `bytes` is the length of the row. */
  clearFrom(address: number, bits: number, bytes: number): void

  /** 1 if a and b hold the same bits, else 0. */
  equal(a: number, b: number, bytes: number): 0 | 1
  /** Number of bits set. */
  popcount(address: number, bytes: number): number

  /**
   * Writes the positions of set bits, ascending, as u16.
   * @param bytes at most 8 KiB
   * @param out 2-aligned, room for `max` + enumerateSlack positions, of which those that are not returned may be overwritten
   * @param first is added to every position; the sums must be below 65,536
   * @returns how many there are, or `max` if there are more
   */
  enumerate(address: number, bytes: number, out: number, max: number, first: number): number

  /**
   * Sets the bits of `out` listed in a gap list of LEB128 numbers: the first position, then each distance to the
   * previous position minus one. Other bits are unchanged. `out` must be 8 KiB whatever the input: nothing is written
   * beyond position 65,535.
   * @param address any; `length` any, including 0
   * @returns number of positions, or −1 for a truncated, overlong or too large number; `out` is then partly written
   */
  decodeGaps(address: number, length: number, out: number): number

  /**
   * Writes a row in the smallest of its stored forms: see sharded-bloom/segment/row-codec.ts. Clears the row's bits at
   * and beyond `documents`.
   * @param out any; room for 1 + rowBytes
   * @returns bytes written
   */
  encodeRow(row: number, documents: number, rowBytes: number, out: number): number
  /**
   * Stores one word of each row in frames of 16 rows, word i of row l at frame + 64 · i + 4 · l.
   * @param words one word for each of 16 · groups rows
   * @param frames address of the frames' addresses, `groups` × u32
   * @param word index of the word within the rows: below 128
   */
  depositWords(words: number, groups: number, frames: number, word: number): void
  /** Stores a whole row in such a frame. @param lane 0…15 */
  depositRow(row: number, rowBytes: number, frame: number, lane: number): void
  /** Extracts a row from such a frame. */
  gatherRow(frame: number, lane: number, rowBytes: number, out: number): void
  /**
   * Writes the rows of such frames one after another, each as a length (u16, little-endian) and the stored form.
   * @param documents at most 4,096, the bits of a row
   * @param out any; room for 3 + rowBytes a row
   * @param ends 4-aligned; receives each row's end, relative to `out` and plus `start`, as u32
   * @returns bytes written
   */
  encodeLanes(
    frames: number,
    slots: number,
    documents: number,
    rowBytes: number,
    out: number,
    ends: number,
    start: number
  ): number
  /**
   * Writes the bits of a row whose parts are stored, each as a length and the stored form.
   * @param cursors for each part its start and the end of the bytes that it may take, two u32; the start is moved past
   * the part. If they are equal, the part has no bits.
   * @param documents of all parts together: all but the last part have one per bit
   * @param partBytes size of a part's bits
   * @param out `parts` × partBytes
   * @returns 1, or 0 if the bytes are not a stored row; `out` is then partly written
   */
  joinParts(cursors: number, parts: number, documents: number, partBytes: number, out: number): 0 | 1
  /**
   * As joinParts() into `row` followed by encodeRow(), except that gap lists are joined directly; `row` is then not
   * written.
   * @param out any; room for 1 + rowBytes
   * @returns bytes written, or −1 if the bytes are not a stored row
   */
  encodeParts(
    cursors: number,
    parts: number,
    documents: number,
    partBytes: number,
    rowBytes: number,
    row: number,
    out: number
  ): number
  /** Copies `bytes` from each of `count` addresses (u32 at `pointers`), contiguously. */
  joinRows(pointers: number, count: number, bytes: number, out: number): void

  /**
   * Writes the keys that are not NaN contiguously, and sets a bit in `members` for each of them; other bits are
   * unchanged.
   * @param keys doubles, `count` of them
   * @returns how many there are
   */
  compactKeys(keys: number, count: number, members: number, out: number): number
  /**
   * Encodes keys as a checkpoint stores them: see sharded-bloom/ranges/column-chunk.ts.
   * @param keys doubles, none NaN
   * @param out any; room for 9 + 8 · count
   * @returns bytes written
   */
  encodeKeys(keys: number, count: number, out: number): number
  /**
   * Samples the keys that are not NaN: keys 0, `stride`, …, the i-th sample at out + 8 · i.
   * @param seen number of keys before these
   * @returns `seen` plus the number of keys here
   */
  sampleKeys(keys: number, count: number, stride: number, seen: number, out: number): number
  /**
   * For every 32 keys, the first that is not NaN at or after the first of them, and a bit in `members` for each that
   * is not NaN; other bits are unchanged.
   * @param next the first key after these
   * @returns the first key at or after the first of these
   */
  firstKeys(keys: number, count: number, next: number, groups: number, members: number): number
  /**
   * For every 32 keys, a zone: the least and the greatest of them, alternating, ∞ and −∞ if all are NaN; and a bit for
   * each that is not NaN, in whole words.
   */
  zonesOfKeys(keys: number, count: number, zones: number, members: number): void

  /**
   * Bit i of `out` = low ≤ key i ≤ high; NaN is in no interval.
   * @param keys doubles, `count` of them, a multiple of 128
   */
  keysBetween(keys: number, count: number, low: number, high: number, out: number): void
  /**
   * groupBetween() for each zone: word i of `out`, starting at byte `at`, covers the zone's 32 positions.
   * @param zones two doubles each, the least and the greatest key; `count` of them
   * @param sixteenths as in groupBetween(); its rows are also read from byte `at` on
   */
  zonesBetween(
    zones: number,
    count: number,
    low: number,
    high: number,
    isUpper: 0 | 1,
    sixteenths: number,
    at: number,
    out: number
  ): void
  /**
   * Which of 32 documents, with keys from `least` to `greatest`, may have a key in the interval (isUpper: 1) or
   * certainly have one (0).
   * @param sixteenths address of the addresses of four rows, lowest bit first, that hold the sixteenth of the group's
   * span that each key is in (codeGroups); 0 if there are none
   * @param at byte offset of the group's word in these rows
   */
  groupBetween(
    least: number,
    greatest: number,
    low: number,
    high: number,
    isUpper: 0 | 1,
    sixteenths: number,
    at: number
  ): number
  /**
   * The sixteenth of its group's span that each key is in, 0 for NaN, in four rows, lowest bit first, `stride` bytes
   * apart. A group is 32 keys; its span is from the double at groups + step · i to the one at groups + step · i + 8.
   * Reads whole groups of keys, beyond `count`, too.
   */
  codeGroups(keys: number, count: number, groups: number, step: number, rows: number, stride: number): void
  /**
   * The code of each key: 1 + the first of 255 edges that is not below it, 0 for NaN. Widens the bin of each code to
   * include the key: bin c − 1 is two doubles at bins + 16 · (c − 1), the least and the greatest key.
   * @param keys doubles, `count` of them, none above the last edge
   * @param edges 255 doubles, ascending, padded with ∞
   * @param codes `count` bytes
   */
  codeKeys(keys: number, count: number, edges: number, codes: number, bins: number): void
  /**
   * Bit b of code i becomes bit i of row b.
   * @param codes bytes, `count` of them, a multiple of 128
   * @param rows eight rows, `stride` bytes apart
   */
  sliceCodes(codes: number, count: number, rows: number, stride: number): void
  /**
   * out = documents whose code is in `low`…`high`, in one pass over the code's bits.
   * @param slices address of the rows' addresses, `count` × u32, the lowest bit first
   * @returns 1 if any bit of `out` is set, else 0
   */
  codesBetween(slices: number, count: number, low: number, high: number, out: number, bytes: number): 0 | 1

  /**
   * Sets bit `group` of `probes` words for each pair, all in one frame: see sharded-bloom/segment/upper-level.ts.
   * @param hashes `count` pairs' hashes, u32 lo and hi alternating
   * @param frame its address
   * @param group 0…31
   */
  addToGroup(hashes: number, count: number, frame: number, probes: number, group: number): void

  /**
   * Packs the bits of `groups` groups, starting at bit `shift`, of successive words into words of 32.
   * @param groups a power of two up to 32;
   * @param words a multiple of 32 / groups
   */
  packGroups(frame: number, words: number, shift: number, groups: number, out: number): void
  /** Sets in `frame` the bits packed by packGroups(); other bits are unchanged. @param packed 4-aligned */
  unpackGroups(packed: number, words: number, shift: number, groups: number, frame: number): void

  /**
   * The groups of a code's positions in a bucket of fingerprints: see sharded-bloom/segment/tail/codec.ts. All groups
   * if the bytes are not such a bucket.
   * @param pointers address of the addresses of 8 KiB frames, u32; the bucket is the bytes [from, to) of their
   * concatenation
   * @param width bits of a code, at most 30;
   * @param code of that many bits
   * @param documents every position is below it
   * @param groupShift log2 of the positions of a group
   */
  fingerprintGroups(
    pointers: number,
    from: number,
    to: number,
    width: number,
    code: number,
    documents: number,
    groupShift: number
  ): number
  /**
   * Sets the bits of a code's positions; other bits are unchanged.
   * @returns how many there are, or −1 if the bytes are not such a bucket; `out` is then partly written
   */
  fingerprintPositions(
    pointers: number,
    from: number,
    to: number,
    width: number,
    code: number,
    documents: number,
    out: number
  ): number
  /**
   * Lists the entries of a bucket, code and position alternating, u32.
   * @param out 4-aligned, room for `max` entries
   * @returns how many there are, or −1 if the bytes are not such a bucket, or have more than `max`
   */
  listFingerprints(
    pointers: number,
    from: number,
    to: number,
    width: number,
    documents: number,
    out: number,
    max: number
  ): number

  /** As checksum() of sharded-bloom/records/checksum.ts, but int32; any address and length. */
  checksum(address: number, length: number, seed: number): number

  /**
   * Transposes the signatures of 64 consecutive documents into column `block` of every row: bit p of signature d
   * becomes bit 64 · block + d of row p. Overwrites those words; other bits are unchanged.
   * @param signatures 64 contiguous signatures; any address
   * @param signatureBytes P / 8, a multiple of 8
   * @param frames address of the frames' addresses, u32, 4-aligned: row p is at frames[p / rowsPerFrame] + (p %
   * rowsPerFrame) · (8192 / rowsPerFrame)
   * @param rowsPerFrame 1…1024, a divisor of 1024
   * @param block below 1024 / rowsPerFrame
   */
  transposeBlock(signatures: number, signatureBytes: number, frames: number, rowsPerFrame: number, block: number): void
}
