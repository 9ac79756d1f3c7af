/**
 * Converts a column of the open segment to its sealed form: if keys only grow, every 32nd key; if few zones have keys
 * in common, the least and greatest key of every zone of 32 positions; otherwise codes in slices. Within a group of 32
 * positions, four slices tell which sixteenth of the group's span a key is in: of a group in which a range ends they
 * leave two or three candidates instead of 32.
 *
 * Zones suit keys that nearly grow: timestamps slightly out of order, or several series that grow one after another, as
 * when documents are replaced in their order.
 *
 * Invariant: every row is over the segment's documents only; bits beyond are unspecified.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { countWhile } from '../../model/count-while.ts'
import type { ScratchArena } from '../records/scratch-arena.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { bitsOfCodes, chooseEdges, hasSharedBins, maxBins } from './bins.ts'
import { type ColumnKind, sixteenthRows } from './column-record.ts'
import type { KeyRun, OpenColumn } from './open-column.ts'

/** Positions that share one key of a growing column, or a zone. */
export const groupPositions = 32
/**
 * Maximum average number of zones whose span holds a document's key: the end of a range then leaves as many candidates
 * as codes of a full segment do.
 */
const maxZonesPerKey = 8
/** The same limit for shorter segments, as a share of their zones. */
const maxZoneShare = 1 / 8
const maxSample = 4096
/** A run has 1,024 keys, at some 50 ns each while the kernel is not optimised. */
const runsPerStep = 16

export interface ColumnContents {
  readonly kind: ColumnKind
  /**
   * Codes: the slices, lowest bit first. Growing and zones: the column's documents, then the slices of the sixteenths.
   */
  readonly rows: readonly Uint32Array[]
  /**
   * Codes: least and greatest key of each bin, in turn. Zones: the same of each zone. Growing: the first key at or
   * after each group's first position.
   */
  readonly keys: Float64Array
}

/** Seals in steps. The contents are allocated from `arena`. */
export function* sealColumn(
  column: OpenColumn,
  documents: number,
  memory: RowMemory,
  arena: ScratchArena
): Generator<void, ColumnContents> {
  if (column.isGrowing) {
    return yield* withSixteenths('growing', growing(column, documents, memory, arena), column, documents, memory, arena)
  }
  const sample = sampleOf(column, documents, memory, arena)
  yield
  const edges = chooseEdges(sample.sort())
  // If every bin is a single value, codes are exact.
  if (hasSharedBins(edges, sample)) {
    yield
    const zones = zonesOf(column, documents, memory, sample, arena)
    if (zones !== undefined) return yield* withSixteenths('zones', zones, column, documents, memory, arena)
  }
  // Keys above the sample's greatest key have a bin of their own.
  if (edges.at(-1) !== column.max) edges.push(column.max)
  yield
  return yield* coded(column, edges, memory, arena)
}

interface Groups {
  readonly keys: Float64Array
  /** Bits of the documents of the column. */
  readonly members: Uint32Array
}

function growing(column: OpenColumn, documents: number, memory: RowMemory, arena: ScratchArena): Groups {
  const groups = Math.ceil(documents / groupPositions)
  const groupsAt = memory.push(8 * groups)
  const membersAt = memory.push(4 * groups)
  memory.kernels.fill(membersAt, 0, 4 * groups)
  column.firstKeys(documents, groupsAt, membersAt)
  const members = arena.copyOfWords(memory.u32.subarray(membersAt >>> 2, (membersAt >>> 2) + groups))
  const keys = arena.copyOfDoubles(memory.f64.subarray(groupsAt >>> 3, (groupsAt >>> 3) + groups))
  memory.pop(groupsAt)
  return { keys, members }
}

/** Returns undefined if too many zones overlap. @param sample of the column's keys, ascending */
function zonesOf(
  column: OpenColumn,
  documents: number,
  memory: RowMemory,
  sample: Float64Array,
  arena: ScratchArena
): Groups | undefined {
  const zones = Math.ceil(documents / groupPositions)
  const zonesAt = memory.push(16 * zones)
  try {
    const membersAt = memory.push(4 * zones)
    column.zones(documents, zonesAt, membersAt)
    const keys = memory.f64.subarray(zonesAt >>> 3, (zonesAt >>> 3) + 2 * zones)
    if (!areNarrow(keys, sample)) return undefined
    const members = memory.u32.subarray(membersAt >>> 2, (membersAt >>> 2) + zones)
    return { keys: arena.copyOfDoubles(keys), members: arena.copyOfWords(members) }
  } finally {
    memory.pop(zonesAt)
  }
}

/** Adds the slices that tell which sixteenth of its group's span each key is in. */
function* withSixteenths(
  kind: 'growing' | 'zones',
  { keys, members }: Groups,
  column: OpenColumn,
  documents: number,
  memory: RowMemory,
  arena: ScratchArena
): Generator<void, ColumnContents> {
  const { kernels, f64 } = memory
  // A group's span begins at its first key and ends at the next stored key.
  const keysPerGroup = kind === 'zones' ? 2 : 1
  const slices = Array.from({ length: sixteenthRows }, () => arena.takeWords(members.length).fill(0))
  for (const [i, { address, position, count }] of column.runs(0, documents).entries()) {
    if (i % runsPerStep === 0) yield
    const first = position / groupPositions
    const groups = Math.ceil(count / groupPositions)
    const groupsAt = memory.push(8 * (groups * keysPerGroup + 1))
    const slicesAt = memory.push(sixteenthRows * 4 * groups)
    // The last group of a growing column ends with the greatest key.
    f64[(groupsAt >>> 3) + groups * keysPerGroup] = column.max
    f64.set(keys.subarray(first * keysPerGroup, (first + groups) * keysPerGroup + 1), groupsAt >>> 3)
    kernels.codeGroups(address, count, groupsAt, 8 * keysPerGroup, slicesAt, 4 * groups)
    copySlices(slicesAt, groups, slices, first, memory)
    memory.pop(groupsAt)
  }
  return { kind, rows: [members, ...slices], keys }
}

/** Copies `words` words of each slice, which follow each other, to word `first` of its row. */
function copySlices(
  slicesAt: number,
  words: number,
  rows: readonly Uint32Array[],
  first: number,
  { u32 }: RowMemory
): void {
  for (let bit = 0; bit < rows.length; bit++) {
    const from = (slicesAt >>> 2) + bit * words
    rows[bit]!.set(u32.subarray(from, from + words), first)
  }
}

/** Whether, on average, few zones' spans hold a document's key. @param sample of the keys, ascending */
function areNarrow(zones: Float64Array, sample: Float64Array): boolean {
  const limit = Math.min(maxZonesPerKey, (zones.length / 2) * maxZoneShare)
  let held = 0
  for (let i = 0; i < zones.length && held <= limit * sample.length; i += 2) {
    // An empty zone, from ∞ to −∞, holds none.
    held += Math.max(0, countNotAbove(sample, zones[i + 1]!) - countBelow(sample, zones[i]!))
  }
  return held <= limit * sample.length
}

function* coded(
  column: OpenColumn,
  edges: readonly number[],
  memory: RowMemory,
  arena: ScratchArena
): Generator<void, ColumnContents> {
  const bins = arena.takeDoubles(2 * maxBins)
  for (let bin = 0; bin < maxBins; bin++) {
    bins[2 * bin] = Number.POSITIVE_INFINITY
    bins[2 * bin + 1] = Number.NEGATIVE_INFINITY
  }
  const rows = Array.from({ length: bitsOfCodes(edges.length) }, () => arena.takeWords(frameBytes / 4).fill(0))
  const runs = column.runs()
  for (let i = 0; i < runs.length; i += runsPerStep) {
    codeKeys(runs.slice(i, i + runsPerStep), edges, bins, rows, memory)
    yield
  }
  return { kind: 'codes', rows, keys: bins.subarray(0, 2 * edges.length) }
}

/** Sets the bits of the codes in `rows` and widens the bins. */
function codeKeys(
  runs: readonly KeyRun[],
  edges: readonly number[],
  bins: Float64Array,
  rows: readonly Uint32Array[],
  memory: RowMemory
): void {
  const { kernels, f64 } = memory
  const edgesAt = memory.push(8 * maxBins)
  const binsAt = memory.push(bins.byteLength)
  const codesAt = memory.push(frameBytes / 8)
  const slicesAt = memory.push(frameBytes / 8)
  f64.fill(Number.POSITIVE_INFINITY, edgesAt >>> 3, (edgesAt >>> 3) + maxBins)
  f64.set(edges, edgesAt >>> 3)
  f64.set(bins, binsAt >>> 3)
  for (const { address, position, count } of runs) {
    kernels.codeKeys(address, count, edgesAt, codesAt, binsAt)
    kernels.sliceCodes(codesAt, count, slicesAt, count / 8)
    copySlices(slicesAt, count / groupPositions, rows, position / groupPositions, memory)
  }
  bins.set(f64.subarray(binsAt >>> 3, (binsAt >>> 3) + bins.length))
  memory.pop(edgesAt)
}

/** Returns every stride-th key. */
function sampleOf(column: OpenColumn, documents: number, memory: RowMemory, arena: ScratchArena): Float64Array {
  const stride = Math.max(1, Math.ceil(column.count / maxSample))
  const sampleAt = memory.push(8 * maxSample)
  let seen = 0
  for (const { address, count } of column.runs(0, documents)) {
    seen = memory.kernels.sampleKeys(address, count, stride, seen, sampleAt)
  }
  const sampled = memory.f64.subarray(sampleAt >>> 3, (sampleAt >>> 3) + Math.ceil(seen / stride))
  const sample = arena.copyOfDoubles(sampled)
  memory.pop(sampleAt)
  return sample
}

function countBelow(sorted: Float64Array, key: number): number {
  return countWhile(sorted.length, (i) => sorted[i]! < key)
}

function countNotAbove(sorted: Float64Array, key: number): number {
  return countWhile(sorted.length, (i) => sorted[i]! <= key)
}
