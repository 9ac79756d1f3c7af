/**
 * Predicted and observed false positives over a grid: documents with known numbers of pairs are added to a real open
 * segment, or to the plain structure, which is then queried for pairs that none of them has.
 */
import { rowNumbers } from '../../src/bloom/hash.ts'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { MurmurHasher } from '../../src/bloom/murmur-hasher.ts'
import { histogramOf, meanRowFalsePositiveRate, rowFalsePositiveRate } from '../../src/bloom/sizing.ts'
import { Type } from '../../src/model/types.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { partOf } from '../../src/sharded-bloom/segment/and-groups.ts'
import { geometryOf } from '../../src/sharded-bloom/segment/geometry.ts'
import { OpenSegment } from '../../src/sharded-bloom/segment/open-segment.ts'
import { allGroups } from '../../src/sharded-bloom/segment/upper-level.ts'
import { expectedFalsePositives } from '../../src/sharded-bloom/standalone/false-positives.ts'
import { randomFrom } from './random.ts'

interface PlainParameters {
  /** P */
  readonly shards: number
  /** M */
  readonly bits: number
  /** R ≤ P */
  readonly rowsPerPair: number
  /** K */
  readonly bitsPerId: number
}

/** Number of pairs per document; the mean is about 60 in each shape. */
export const shapes = {
  /** All documents have the same number. */
  even: () => 60,
  /** Most have few and a few have many, like tweets. */
  uneven: (random: () => number) => 20 + Math.min(300, Math.floor(-40 * Math.log(1 - random()))),
  /** Nine tenths have 30, one tenth 330. */
  mixed: (random: () => number) => (random() < 0.9 ? 30 : 330)
} as const

export type ShapeName = keyof typeof shapes

export interface RowPoint {
  readonly shape: ShapeName
  readonly bitsPerPosting: number
  readonly rowsPerPair: number
}

export interface PlainPoint extends PlainParameters {
  readonly shape: ShapeName
}

export interface Comparison {
  /** P */
  readonly shards: number
  /** Computed from the histogram of pairs per document. */
  readonly predicted: number
  /** As if all documents had the mean number; for the plain structure, as if all bits were equally likely to be set. */
  readonly byMean: number
  readonly observed: number
  readonly falsePositives: number
}

const documents = 4096
/** So many that they deviate by some 3 % by chance. */
const enoughFalsePositives = 1000
const maxProbes = 60_000

export const rowGrid: readonly RowPoint[] = (['even', 'uneven', 'mixed'] as const).flatMap((shape) =>
  [12, 16, 24].flatMap((bitsPerPosting) => [4, 8, 12].map((rowsPerPair) => ({ shape, bitsPerPosting, rowsPerPair })))
)

export const plainGrid: readonly PlainPoint[] = (['even', 'uneven', 'mixed'] as const).flatMap((shape) => [
  { shape, shards: 960, bits: 4096, rowsPerPair: 4, bitsPerId: 1 },
  { shape, shards: 960, bits: 16_384, rowsPerPair: 4, bitsPerId: 1 },
  { shape, shards: 480, bits: 16_384, rowsPerPair: 4, bitsPerId: 2 }
])

export function compareRows({ shape, bitsPerPosting, rowsPerPair }: RowPoint, seed: number): Comparison {
  const random = randomFrom(seed)
  const pairs = Uint32Array.from({ length: documents }, () => shapes[shape](random))
  // The length of the array is a pair too.
  const histogram = histogramOf(pairs.map((count) => count + 1))
  const mean = pairs.reduce((sum, count) => sum + count + 1, 0) / documents
  const shards = Math.ceil((bitsPerPosting * mean) / 64) * 64
  const predicted = meanRowFalsePositiveRate(histogram, shards, rowsPerPair)

  const hasher = new MurmurHasher()
  const flattener = new Flattener(hasher, { lo: seed, hi: ~seed })
  const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
  const memory = rowMemory()
  const parameters = { shards, rowsPerPair, privatePairs: [], columns: [], upperFrames: 0 }
  const segment = new OpenSegment(memory, geometryOf(documents), pairHash, 0, parameters)
  const out = memory.push(segment.rowBytes)
  try {
    pairs.forEach((count, i) => {
      segment.add(flattener.flatten({ v: Array.from({ length: count }, (_, j) => `${i}:${j}`) }))
    })
    const probes = probesFor(predicted)
    let falsePositives = 0
    for (let probe = 0; probe < probes; probe++) {
      const pair = pairHash.hash({ path: 'v', tag: Type.string, key: `absent ${probe}` })
      if (segment.andHashed({ kind: 'hashed', pair }, out, partOf(segment, allGroups))) {
        falsePositives += memory.kernels.popcount(out, segment.rowBytes)
      }
    }
    const observed = falsePositives / probes / documents
    return { shards, predicted, byMean: rowFalsePositiveRate(mean, shards, rowsPerPair), observed, falsePositives }
  } finally {
    memory.pop(out)
    segment.free()
  }
}

export function comparePlain({ shape, ...parameters }: PlainPoint, seed: number): Comparison {
  const random = randomFrom(seed)
  const pairs = Uint32Array.from({ length: documents }, () => shapes[shape](random))
  const { shards, bits, rowsPerPair, bitsPerId } = parameters
  const predicted = plainRate(pairs, parameters)
  const structure = new PlainStructure(parameters, random)
  pairs.forEach((count, id) => {
    for (let j = 0; j < count; j++) structure.add(hash(random), id)
  })
  const probes = probesFor(predicted)
  let falsePositives = 0
  for (let probe = 0; probe < probes; probe++) {
    const rows = structure.rowsOf(hash(random))
    for (let id = 0; id < documents; id++) if (structure.mayHave(rows, id)) falsePositives++
  }
  const total = pairs.reduce((sum, count) => sum + count, 0)
  const byMean = textbookRate(total, { shards, bits, rowsPerPair, bitsPerId })
  return { shards, predicted, byMean, observed: falsePositives / probes / documents, falsePositives }
}

/** Probability that an id is found for a pair it lacks, with a Poisson distribution of ids that share its positions. */
function plainRate(pairs: Uint32Array, { shards, bits, rowsPerPair, bitsPerId }: PlainParameters): number {
  const counts = new Map<number, number>()
  for (const count of pairs) counts.set(count, (counts.get(count) ?? 0) + 1)
  const poisson = (z: number): number => Math.exp((-pairs.length * bitsPerId * (1 - z)) / bits)
  const crowding = { othersOfMember: poisson, strangers: 0, othersOfStranger: poisson }
  return expectedFalsePositives(counts, { virtualShards: shards, rowsPerPair, bitsPerId }, crowding) / pairs.length
}

/**
 * The textbook rate: every bit is set with probability 1 − e^(−K·R·N·n/(P·M)), where n is the mean number of pairs.
 * @see Bloom, Space/time trade-offs in hash coding with allowable errors, 1970
 */
function textbookRate(pairs: number, { shards, bits, rowsPerPair, bitsPerId }: PlainParameters): number {
  const fill = -Math.expm1((-bitsPerId * rowsPerPair * pairs) / (shards * bits))
  return fill ** (rowsPerPair * bitsPerId)
}

/** The structure as described, without regard to speed. */
class PlainStructure {
  readonly #parameters: PlainParameters
  readonly #filters: Uint8Array
  readonly #positions: Uint32Array

  constructor(parameters: PlainParameters, random: () => number) {
    this.#parameters = parameters
    const { shards, bits, bitsPerId } = parameters
    this.#filters = new Uint8Array(shards * bits)
    this.#positions = Uint32Array.from({ length: documents * bitsPerId }, () => Math.floor(random() * bits))
  }

  rowsOf({ lo, hi }: { readonly lo: number; readonly hi: number }): Int32Array {
    const rows = new Int32Array(this.#parameters.rowsPerPair)
    rowNumbers(lo, hi, this.#parameters.shards, rows.length, rows)
    return rows
  }

  add(pair: { readonly lo: number; readonly hi: number }, id: number): void {
    const { bits, bitsPerId } = this.#parameters
    for (const row of this.rowsOf(pair)) {
      for (let k = 0; k < bitsPerId; k++) this.#filters[row * bits + this.#positions[id * bitsPerId + k]!] = 1
    }
  }

  mayHave(rows: Int32Array, id: number): boolean {
    const { bits, bitsPerId } = this.#parameters
    for (let k = 0; k < bitsPerId; k++) {
      const position = this.#positions[id * bitsPerId + k]!
      for (let i = 0; i < rows.length; i++) if (this.#filters[rows[i]! * bits + position] === 0) return false
    }
    return true
  }
}

function probesFor(rate: number): number {
  return Math.min(maxProbes, Math.ceil(enoughFalsePositives / (rate * documents)))
}

function hash(random: () => number): { readonly lo: number; readonly hi: number } {
  return { lo: (random() * 2 ** 32) | 0, hi: (random() * 2 ** 32) | 0 }
}
