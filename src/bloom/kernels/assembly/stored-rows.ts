/**
 * Private rows: gathered from words, in their stored form, and as bits (see sharded-bloom/segment/row-codec.ts and
 * private-chunk.ts). The contract of every function is in ../kernels.ts.
 */
import { readGaps, writeGaps } from './gaps'
import { clearFrom, popcount } from './index'

/** Row shapes, as in row-codec.ts. */
const NONE: u8 = 0
const ALL: u8 = 1
const DENSE: u8 = 2
const LIST: u8 = 3
const COMPLEMENT: u8 = 4

/** Number of slots whose words are adjacent: a line of the first-level cache. */
const LANES: u32 = 16
/** Where the rows of one frame are assembled: 8 KiB of the kernels' own workspace. */
const ROWS: usize = 4096

export function encodeRow(row: usize, documents: u32, rowBytes: u32, out: usize): u32 {
  clearFrom(row, documents, rowBytes)
  const count = popcount(row, rowBytes)
  if (count == 0) {
    store<u8>(out, NONE)
    return 1
  }
  if (count == documents) {
    store<u8>(out, ALL)
    return 1
  }
  const isInverted = count > documents - count
  // A gap takes at least one byte.
  if ((isInverted ? documents - count : count) < rowBytes) {
    const length = writeGaps(row, rowBytes, isInverted ? ~(<u64>0) : 0, documents, out + 1, rowBytes - 1)
    if (length >= 0) {
      store<u8>(out, isInverted ? COMPLEMENT : LIST)
      return 1 + <u32>length
    }
  }
  store<u8>(out, DENSE)
  memory.copy(out + 1, row, rowBytes)
  return 1 + rowBytes
}

export function depositWords(words: usize, groups: u32, frames: usize, word: u32): void {
  for (const end = frames + (<usize>groups << 2); frames < end; frames += 4, words += 64) {
    const to = <usize>load<u32>(frames) + (<usize>word << 6)
    v128.store(to, v128.load(words))
    v128.store(to, v128.load(words, 16), 16)
    v128.store(to, v128.load(words, 32), 32)
    v128.store(to, v128.load(words, 48), 48)
  }
}

export function depositRow(row: usize, rowBytes: u32, frame: usize, lane: u32): void {
  let to = frame + (<usize>lane << 2)
  for (const end = row + <usize>rowBytes; row < end; row += 4, to += 64) store<u32>(to, load<u32>(row))
}

export function gatherRow(frame: usize, lane: u32, rowBytes: u32, out: usize): void {
  let from = frame + (<usize>lane << 2)
  for (const end = out + <usize>rowBytes; out < end; out += 4, from += 64) store<u32>(out, load<u32>(from))
}

export function encodeLanes(
  frames: usize, slots: u32, documents: u32, rowBytes: u32, out: usize, ends: usize, start: u32
): u32 {
  let at = out
  for (let slot: u32 = 0; slot < slots; slot++) {
    const lane = slot % LANES
    if (lane == 0) {
      gatherLanes(<usize>load<u32>(frames), rowBytes)
      frames += 4
    }
    const length = encodeRow(ROWS + <usize>(lane * rowBytes), documents, rowBytes, at + 2)
    store<u16>(at, <u16>length)
    at += 2 + <usize>length
    store<u32>(ends + (<usize>slot << 2), start + <u32>(at - out))
  }
  return <u32>(at - out)
}

/** Writes the 16 rows of a frame to ROWS, contiguously, by transposing four words of four rows at a time. */
function gatherLanes(frame: usize, rowBytes: u32): void {
  for (let offset: usize = 0; offset < <usize>rowBytes; offset += 16) {
    const from = frame + (offset << 4)
    for (let lane: usize = 0; lane < LANES; lane += 4) {
      const words = from + (lane << 2)
      const a = v128.load(words), b = v128.load(words, 64), c = v128.load(words, 128), d = v128.load(words, 192)
      const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5), abHigh = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
      const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5), cdHigh = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
      const to = ROWS + lane * <usize>rowBytes + offset
      v128.store(to, v128.shuffle<i64>(ab, cd, 0, 2))
      v128.store(to + <usize>rowBytes, v128.shuffle<i64>(ab, cd, 1, 3))
      v128.store(to + <usize>(2 * rowBytes), v128.shuffle<i64>(abHigh, cdHigh, 0, 2))
      v128.store(to + <usize>(3 * rowBytes), v128.shuffle<i64>(abHigh, cdHigh, 1, 3))
    }
  }
}

export function joinParts(cursors: usize, parts: u32, documents: u32, partBytes: u32, out: usize): u32 {
  let rest = documents
  for (const last = cursors + (<usize>parts << 3); cursors < last; cursors += 8, out += <usize>partBytes) {
    const from = <usize>load<u32>(cursors)
    const end = <usize>load<u32>(cursors, 4)
    const covered = min(rest, partBytes << 3)
    rest -= covered
    if (from == end) {
      memory.fill(out, 0, partBytes)
      continue
    }
    if (from + 3 > end) return 0
    const length = <u32>load<u16>(from)
    const next = from + 2 + <usize>length
    if (next > end || !decodePart(from + 2, length, covered, partBytes, out)) return 0
    store<u32>(cursors, <u32>next)
  }
  return 1
}

export function encodeParts(
  cursors: usize, parts: u32, documents: u32, partBytes: u32, rowBytes: u32, row: usize, out: usize
): i32 {
  const length = joinLists(cursors, parts, documents, partBytes, rowBytes, out)
  if (length > 0) return <i32>length
  if (!joinParts(cursors, parts, documents, partBytes, row)) return -1
  return <i32>encodeRow(row, documents, rowBytes, out)
}

/**
 * Joins gap lists of the same kind into one: only the first gap of each part changes. Returns 0, moving no cursor, if
 * the row has another shape or a part is damaged.
 */
function joinLists(cursors: usize, parts: u32, documents: u32, partBytes: u32, rowBytes: u32, out: usize): u32 {
  const last = cursors + (<usize>parts << 3)
  const partDocuments = partBytes << 3
  const limit = out + <usize>rowBytes
  let shape: u8 = NONE
  let at = out + 1
  let count: u32 = 0
  let next: u32 = 0
  let start: u32 = 0
  for (let cursor = cursors; cursor < last; cursor += 8, start += partDocuments) {
    const from = <usize>load<u32>(cursor)
    const end = <usize>load<u32>(cursor, 4)
    if (from + 3 > end && from != end) return 0
    const length = from == end ? 0 : <u32>load<u16>(from)
    const kind = length == 0 ? NONE : load<u8>(from, 2)
    const partEnd = from + 2 + <usize>length
    if (from != end && (length == 0 || partEnd > end)) return 0
    const needed = kind == NONE || kind == LIST ? LIST : kind == ALL || kind == COMPLEMENT ? COMPLEMENT : DENSE
    if (needed == DENSE || (shape != NONE && shape != needed)) return 0
    shape = needed
    if (kind == NONE || kind == ALL) continue
    // A gap of one byte may grow to three.
    if (at + <usize>length + 2 > limit) return 0
    let offset = from + 3
    // The first gap is relative to the start of the part, and has to become relative to the previous position.
    let gap: u32 = 0
    let shift: u32 = 0
    let byte: u32 = 0
    do {
      if (offset == partEnd || shift > 14) return 0
      byte = <u32>load<u8>(offset++)
      gap |= (byte & 127) << shift
      shift += 7
    } while (byte > 127)
    let rest = start + gap - next
    for (; rest > 127; rest >>= 7) store<u8>(at++, <u8>(rest | 128))
    store<u8>(at++, <u8>rest)
    next = start + gap + 1
    count++
    gap = 0
    shift = 0
    while (offset < partEnd) {
      if (shift == 0 && offset + 16 <= partEnd) {
        const bytes = v128.load(offset)
        if (i8x16.bitmask(bytes) == 0) {
          v128.store(at, bytes)
          const sums = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes))
          next += 16 + i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1)
            + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3)
          count += 16
          at += 16
          offset += 16
          continue
        }
      }
      byte = <u32>load<u8>(offset++)
      store<u8>(at++, <u8>byte)
      gap |= (byte & 127) << shift
      if (byte > 127) {
        shift += 7
        if (shift > 14) return 0
        continue
      }
      next += gap + 1
      count++
      gap = 0
      shift = 0
    }
    if (shift != 0 || next > min(start + partDocuments, documents)) return 0
  }
  if (shape == NONE) return 0
  // The same decision as in encodeRow().
  if (count != 0 && (count > documents - count || (shape == COMPLEMENT && count == documents - count) || count >= rowBytes)) return 0
  store<u8>(out, count != 0 ? shape : shape == LIST ? NONE : ALL)
  for (let cursor = cursors; cursor < last; cursor += 8) {
    const from = <usize>load<u32>(cursor)
    if (from != <usize>load<u32>(cursor, 4)) store<u32>(cursor, <u32>from + 2 + <u32>load<u16>(from))
  }
  return <u32>(at - out)
}

/** False unless the bytes are a row of this many documents. */
function decodePart(stored: usize, length: u32, documents: u32, rowBytes: u32, out: usize): bool {
  if (length == 0) return false
  const shape = load<u8>(stored)
  const payload = stored + 1
  const payloadBytes = length - 1
  if (shape == NONE || shape == ALL) memory.fill(out, shape == ALL ? 0xff : 0, rowBytes)
  else if (shape == DENSE) {
    if (payloadBytes != rowBytes) return false
    memory.copy(out, payload, rowBytes)
  } else if (shape == LIST || shape == COMPLEMENT) {
    memory.fill(out, 0, rowBytes)
    if (readGaps(payload, payloadBytes, documents - 1, out) < 0) return false
    if (shape == COMPLEMENT) invert(out, rowBytes)
  } else return false
  clearFrom(out, documents, rowBytes)
  return true
}

// @ts-ignore: decorator
@inline
function invert(row: usize, rowBytes: u32): void {
  for (const end = row + <usize>rowBytes; row < end; row += 16) v128.store(row, v128.not(v128.load(row)))
}

export function joinRows(pointers: usize, count: u32, bytes: u32, out: usize): void {
  for (const end = pointers + (<usize>count << 2); pointers < end; pointers += 4, out += <usize>bytes) {
    memory.copy(out, <usize>load<u32>(pointers), bytes)
  }
}
