/**
 * Measures predicted and observed false positives of the standalone structure over a grid of codecs, tails and
 * parameters. No two ids share a pair, and queries ask for pairs that none has.
 */
import { type Id, type IdsOption, ShardedBloom, type TailName } from '../../src/sharded-bloom/standalone/index.ts'
import { createRandom, type Random } from '../bloom/random.ts'

/** Pairs of each id; the mean is 30 in both. */
const shapes = {
  even: () => 30,
  /** Nine tenths have 15, one tenth 165. */
  mixed: (random: Random) => (random.below(10) === 0 ? 165 : 15)
} as const

export interface GridPoint {
  readonly codec: string
  readonly shape: keyof typeof shapes
  readonly ids: IdsOption
  readonly tail: TailName
  readonly fingerprintBits: number
  /** P, M, R, K */
  readonly shards: number
  readonly bits: number
  readonly rowsPerPair: number
  readonly bitsPerId: number
}

export interface GridResult {
  /** Ids found for a pair that none has. */
  readonly predicted: number
  readonly observed: number
  /** Ids found by all probes together. */
  readonly falsePositives: number
  readonly bytesPerId: number
}

export const gridIds = 4000
/** Limits the deviation by chance to 2 %, or somewhat more where ids share positions and are found together. */
const enoughFalsePositives = 3000
const maxProbes = 30_000

const order: IdsOption = { codec: 'table', positions: 'order' }
const byHash: IdsOption = { codec: 'table', positions: 'hash' }
const reversible = (to: number): IdsOption => ({ codec: 'reversible', to })

/** P, M, R, K, and f for fingerprints. */
type Numbers = readonly [shards: number, bits: number, rowsPerPair: number, bitsPerId: number, fingerprintBits?: number]

const rows: readonly (readonly [codec: string, ids: IdsOption, ...numbers: Numbers])[] = [
  ['table by order', order, 360, 4000, 2, 1],
  ['table by order', order, 360, 4000, 4, 1],
  ['table by order', order, 360, 4000, 8, 1],
  ['table by order, 4 at a position', order, 960, 1000, 4, 1],
  ['table by hash', byHash, 480, 4096, 4, 1],
  ['table by hash', byHash, 480, 16_384, 4, 1],
  ['table by hash', byHash, 240, 16_384, 4, 2],
  ['rehash', { codec: 'rehash' }, 480, 16_384, 4, 1],
  ['rehash', { codec: 'rehash' }, 240, 32_768, 4, 3],
  ['reversible, D = M', reversible(4000), 360, 4000, 4, 1],
  ['reversible, D = 4 M', reversible(4000), 960, 1000, 4, 1],
  ['reversible, D = 8 M = 8 × ids', reversible(32_000), 480, 4000, 4, 1],
  ['table by order', order, 2, 4000, 1, 1, 8],
  ['table by order', order, 2, 4000, 1, 1, 12],
  ['table by hash', byHash, 2, 8192, 1, 1, 10],
  ['rehash', { codec: 'rehash' }, 2, 8192, 1, 2, 10]
]

export const grid: readonly GridPoint[] = (['even', 'mixed'] as const).flatMap((shape) =>
  rows.map(([codec, ids, shards, bits, rowsPerPair, bitsPerId, fingerprintBits]) => ({
    codec,
    shape,
    ids,
    tail: fingerprintBits === undefined ? 'bloom' : 'fingerprint',
    fingerprintBits: fingerprintBits ?? 12,
    shards,
    bits,
    rowsPerPair,
    bitsPerId
  }))
)

export function measure({ codec: _, shape, ...options }: GridPoint, seed: number): GridResult {
  const random = createRandom(seed)
  const structure = new ShardedBloom({ ...options, seed })
  const ids = someIds(options.ids, random)
  let value = 0
  for (const id of ids) {
    structure.add(
      id,
      Array.from({ length: shapes[shape](random) }, () => ['v', value++] as const)
    )
  }
  const { bytes, falsePositives } = structure.stats({ probes: 0 })
  const { predicted } = falsePositives
  const probes = Math.min(maxProbes, Math.max(50, Math.ceil(enoughFalsePositives / predicted)))
  const observed = structure.stats({ probes, ...(options.ids.codec === 'rehash' && { ids }) }).falsePositives.observed
  if (observed === undefined) throw new TypeError('nothing was observed')
  return { predicted, observed, falsePositives: observed * probes, bytesPerId: bytes / ids.length }
}

/** Integers for reversible ids, chosen randomly if the domain is larger. */
function someIds(option: IdsOption, random: Random): Id[] {
  if (option.codec !== 'reversible') return Array.from({ length: gridIds }, (_, i) => `id ${i}`)
  const domain = Array.from({ length: option.to }, (_, i) => i)
  for (let i = 0; i < gridIds; i++) {
    const j = i + random.below(domain.length - i)
    const chosen = domain[j]!
    domain[j] = domain[i]!
    domain[i] = chosen
  }
  return domain.slice(0, gridIds)
}
