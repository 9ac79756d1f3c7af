/**
 * A column of the open segment → what a sealed one stores: codes in slices, or, where keys only grow, every 32nd key.
 *
 * Invariant: every row is over the documents of the segment only; what it holds beyond means nothing.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { frameBytes } from '../segment/row-cache.ts'
import { bitsOfCodes, chooseEdges, maxBins } from './bins.ts'
import type { OpenColumn } from './open-column.ts'

/** Positions that share one key of a growing column. */
export const groupPositions = 32
const maxSample = 4096
const positionsPerStep = 8192

export interface ColumnContents {
  readonly kind: 'codes' | 'growing'
  /** Codes: the slices, lowest bit first. Growing: the documents of the column. */
  readonly rows: readonly Uint32Array[]
  /** Codes: least and greatest key of each bin, in turn. Growing: the first key at or after each group's first position. */
  readonly keys: Float64Array
}

/** In steps. */
export function* sealColumn(column: OpenColumn, documents: number, memory: RowMemory): Generator<void, ColumnContents> {
  const keys = new Float64Array(documents)
  column.read(0, keys)
  yield
  if (column.isGrowing) return yield* growing(column, keys)
  const sample = yield* sampleOf(keys, column.count)
  yield
  const edges = chooseEdges(sample)
  // Keys beyond the sample's greatest one have a bin of their own.
  if (edges.at(-1) !== column.max) edges.push(column.max)
  yield
  return coded(column, edges, memory)
}

function* growing(column: OpenColumn, keys: Float64Array): Generator<void, ColumnContents> {
  const groups = new Float64Array(Math.ceil(keys.length / groupPositions))
  const members = new Uint32Array(Math.ceil(keys.length / 32))
  let next = column.max
  for (let position = keys.length - 1; position >= 0; position--) {
    const key = keys[position]!
    if (!Number.isNaN(key)) {
      next = key
      members[position >>> 5]! |= 1 << (position & 31)
    }
    if (position % groupPositions === 0) groups[position / groupPositions] = next
    if (position % positionsPerStep === 0) yield
  }
  return { kind: 'growing', rows: [members], keys: groups }
}

function coded(column: OpenColumn, edges: readonly number[], memory: RowMemory): ColumnContents {
  const { kernels, f64, u32 } = memory
  const start = memory.push(0)
  try {
    const edgesAt = memory.push(maxBins * 8)
    const binsAt = memory.push(maxBins * 16)
    const codesAt = memory.push(frameBytes)
    const slicesAt = memory.push(8 * frameBytes)
    f64.fill(Number.POSITIVE_INFINITY, edgesAt >>> 3, (edgesAt >>> 3) + maxBins)
    f64.set(edges, edgesAt >>> 3)
    for (let bin = 0; bin < maxBins; bin++) {
      f64[(binsAt >>> 3) + 2 * bin] = Number.POSITIVE_INFINITY
      f64[(binsAt >>> 3) + 2 * bin + 1] = Number.NEGATIVE_INFINITY
    }
    kernels.fill(slicesAt, 0, 8 * frameBytes)
    for (const { address, position, count } of column.frames()) {
      kernels.codeKeys(address, count, edgesAt, codesAt, binsAt)
      kernels.sliceCodes(codesAt, count, slicesAt + position / 8, frameBytes)
    }
    return {
      kind: 'codes',
      rows: Array.from({ length: bitsOfCodes(edges.length) }, (_, bit) => {
        const from = (slicesAt + bit * frameBytes) >>> 2
        return u32.slice(from, from + frameBytes / 4)
      }),
      keys: f64.slice(binsAt >>> 3, (binsAt >>> 3) + 2 * edges.length)
    }
  } finally {
    memory.pop(start)
  }
}

/** Every so manieth key, ascending. */
function* sampleOf(keys: Float64Array, count: number): Generator<void, Float64Array> {
  const stride = Math.max(1, Math.ceil(count / maxSample))
  const sample = new Float64Array(Math.ceil(count / stride))
  let seen = 0
  let taken = 0
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (!Number.isNaN(key) && seen++ % stride === 0) sample[taken++] = key
    if (i % positionsPerStep === positionsPerStep - 1) yield
  }
  return sample.subarray(0, taken).sort()
}
