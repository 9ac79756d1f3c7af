/**
 * Bit kernels over rows in linear memory. Compiled by scripts/build-kernels.mjs; the contract of every function is in
 * ../kernels.ts.
 *
 * Invariants:
 * 1. Addresses are byte offsets and lengths are bytes, multiples of 16. Nothing is read or written beyond them.
 * 2. A chunk of every input is read before the same chunk of the output is written, so an output may be one of the
 *    inputs. Partly overlapping rows are not supported.
 * 3. No static data, no allocation. The only memory used is the workspace of transpose.ts, stored-rows.ts and
 *    positions.ts, below all addresses that RowMemory hands out. It holds nothing from one call to the next.
 */
export * from './checksum'
export * from './column-keys'
export { andRows, groupsWithBits } from './combine'
export { fingerprintGroups, fingerprintPositions, listFingerprints } from './fingerprints'
export { decodeGaps } from './gaps'
export * from './groups'
export * from './positions'
export * from './ranges'
export * from './rows'
export {
  depositRow,
  depositWords,
  encodeLanes,
  encodeParts,
  encodeRow,
  gatherRow,
  joinParts,
  joinRows
} from './stored-rows'
export * from './transpose'
