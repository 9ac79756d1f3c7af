/** A document's signature: one bit for each row of its hashed pairs. */
import { SIGNATURE } from './layout'

const MULTIPLIER: u32 = 0x915f77f5

let rowsPerPair: u32 = 0
let shards: u32 = 0
let stratum: u32 = 0
let firstWider: u32 = 0

/** Begins another segment, with P rows of which a pair has r; P is 0 with fingerprints, which are made from hashes. */
export function resetGeometry(P: u32, r: u32): void {
  shards = P
  rowsPerPair = r
  stratum = P / r
  firstWider = r - (P - stratum * r)
}

// @ts-ignore: decorator
@inline
export function hasRows(): bool {
  return shards != 0
}

export function clearSignature(): void {
  for (let i: usize = 0; i < <usize>(shards >>> 3); i += 16) v128.store(SIGNATURE + i, i64x2.splat(0))
}

/** Sets the rows of bloom/row-numbers.ts. */
export function setRows(hash: u64): void {
  if (stratum == 0) return addCramped(hash)
  const hi = <u32>(hash >>> 32)
  let state = <u32>hash
  let first: u32 = 0
  const wider = firstWider * stratum
  for (; first < wider; first += stratum) {
    state = state * MULTIPLIER + hi
    setRow(first + <u32>((<u64>state * <u64>stratum) >>> 32))
  }
  for (const width = stratum + 1; first < shards; first += width) {
    state = state * MULTIPLIER + hi
    setRow(first + <u32>((<u64>state * <u64>width) >>> 32))
  }
}

/** Handles more rows per pair than there are rows. */
function addCramped(hash: u64): void {
  let state = <u32>hash
  for (let i: u32 = 0; i < rowsPerPair; i++) {
    state = state * MULTIPLIER + <u32>(hash >>> 32)
    setRow(<u32>((<u64>state * <u64>shards) >>> 32))
  }
}

// @ts-ignore: decorator
@inline
function setRow(row: u32): void {
  const byte = SIGNATURE + <usize>(row >>> 3)
  store<u8>(byte, load<u8>(byte) | <u8>(<u32>1 << (row & 7)))
}
