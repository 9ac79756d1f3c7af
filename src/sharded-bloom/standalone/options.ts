/**
 * The options of a standalone structure, and the checked parameters made from them. The parameters are plain data:
 * serialise() writes them, and structures with equal parameters place every pair and id alike.
 */
import type { HashName } from '../../bloom/hash.ts'
import { PetalError } from '../../model/errors.ts'

/** An id. Numbers are finite; −0 equals 0. */
export type Id = string | number

export type TailName = 'bloom' | 'fingerprint'

/** How ids get positions, and how set bits lead back to ids. See ids/id-codec.ts. */
export type IdsOption =
  /**
   * The structure keeps the ids. `positions: 'order'`, the default, gives each id the next position, so that up to M
   * ids share none; `'hash'` gives each K positions by its hash.
   */
  | { readonly codec: 'table'; readonly positions?: 'order' | 'hash' | undefined }
  /** Ids are integers in [from, to). No ids are kept: positions are computed from ids, and ids from positions. */
  | { readonly codec: 'reversible'; readonly from?: number | undefined; readonly to: number }
  /** K positions by hash. No ids are kept: the caller of candidates() supplies the ids to choose from. */
  | { readonly codec: 'rehash' }

export interface ShardedBloomOptions {
  /** P: number of filters that pairs are spread over, or of buckets of the fingerprint tail. 1…65,536 */
  readonly shards: number
  /** M: positions, the bits of a filter. 1…2^30 */
  readonly bits: number
  /** R: filters that a pair is put into. 1…32, at most P; default 8. A fingerprint is in one bucket, so 1 there. */
  readonly rowsPerPair?: number | undefined
  /** K: bits of an id in each filter. 1…16, at most M; default 1, the only value without hashed positions */
  readonly bitsPerId?: number | undefined
  /** Keeps counters beside the bits, so that ids can be removed: five times the memory. Default false */
  readonly counting?: boolean | undefined
  /** `bloom`: bits; `fingerprint`: for each pair of an id, a fingerprint with the id's position. Default `bloom` */
  readonly tail?: TailName | undefined
  /** Bits of a fingerprint, 8…12; together with the bits of a position at most 32. Default 12 */
  readonly fingerprintBits?: number | undefined
  /** Default `table` */
  readonly ids?: IdsOption | 'table' | 'rehash' | undefined
  /** Default `murmur`. `farmhash` has to be loaded first: `await loadHasher('farmhash')` */
  readonly hash?: HashName | undefined
  /** Any safe integer: structures with different seeds have different false positives. Default 0 */
  readonly seed?: number | undefined
}

/** Every option, checked. */
export interface Parameters {
  readonly shards: number
  readonly bits: number
  readonly rowsPerPair: number
  readonly bitsPerId: number
  readonly counting: boolean
  readonly tail: TailName
  readonly fingerprintBits: number
  readonly ids: IdsOption
  readonly hash: HashName
  readonly seed: number
}

const maxShards = 65_536

const knownOptions = {
  shards: true,
  bits: true,
  rowsPerPair: true,
  bitsPerId: true,
  counting: true,
  tail: true,
  fingerprintBits: true,
  ids: true,
  hash: true,
  seed: true
} satisfies Record<keyof ShardedBloomOptions, true>

/** Limit on bits and counters together: 1 GiB, in bits. */
const MAX_TOTAL_BITS = 2 ** 33

/** @throws PetalError InvalidOptions, which names the option */
export function parametersOf(options: ShardedBloomOptions): Parameters {
  assertOptions('ShardedBloom', options, Object.keys(knownOptions))
  const { counting = false, tail = 'bloom', hash = 'murmur', seed = 0, fingerprintBits = 12 } = options
  if (tail !== 'bloom' && tail !== 'fingerprint') throw invalid('tail', "'bloom' or 'fingerprint'", tail)
  if (typeof counting !== 'boolean') throw invalid('counting', 'a boolean', counting)
  if (hash !== 'murmur' && hash !== 'farmhash') throw invalid('hash', "'murmur' or 'farmhash'", hash)
  if (!Number.isSafeInteger(seed)) throw invalid('seed', 'a safe integer', seed)
  const isFingerprint = tail === 'fingerprint'
  const shards = integer('shards', options.shards, 1, maxShards)
  const bits = integer('bits', options.bits, 1, 2 ** 30)
  const rowsPerPair = integer(
    'rowsPerPair',
    options.rowsPerPair ?? (isFingerprint ? 1 : Math.min(8, shards)),
    1,
    isFingerprint ? 1 : Math.min(32, shards)
  )
  const ids = idsOf(options.ids ?? 'table')
  const isHashed = ids.codec === 'rehash' || (ids.codec === 'table' && ids.positions === 'hash')
  const bitsPerId = integer('bitsPerId', options.bitsPerId ?? 1, 1, isHashed ? Math.min(16, bits) : 1)
  integer('fingerprintBits', fingerprintBits, 8, isFingerprint ? Math.min(12, 32 - bitWidth(bits)) : 12)
  const rowBits = counting ? 5 * bits : bits
  if (!isFingerprint && (shards + 1) * rowBits > MAX_TOTAL_BITS) {
    throw invalid('shards', `shards × bits${counting ? ' × 5' : ''} of at most 2^33`, shards)
  }
  return { shards, bits, rowsPerPair, bitsPerId, counting, tail, fingerprintBits, ids, hash, seed }
}

/** Number of bits that hold the integers below `count`. */
export function bitWidth(count: number): number {
  return count <= 1 ? 0 : 32 - Math.clz32(count - 1)
}

function idsOf(option: IdsOption | 'table' | 'rehash'): IdsOption {
  const ids: IdsOption = typeof option === 'string' ? { codec: option } : option
  switch (ids?.codec) {
    case 'rehash':
      return { codec: 'rehash' }
    case 'table': {
      const { positions = 'order' } = ids
      if (positions !== 'order' && positions !== 'hash') throw invalid('ids.positions', "'order' or 'hash'", positions)
      return { codec: 'table', positions }
    }
    case 'reversible': {
      const { from = 0, to } = ids
      if (!Number.isSafeInteger(from)) throw invalid('ids.from', 'a safe integer', from)
      if (!Number.isSafeInteger(to) || to <= from || to - from > 2 ** 53) {
        throw invalid('ids.to', `a safe integer above ${from}, by at most 2^53`, to)
      }
      return { codec: 'reversible', from, to }
    }
    default:
      throw invalid('ids', "codec 'table', 'reversible' or 'rehash'", option)
  }
}

function integer(option: string, value: number, least: number, greatest: number): number {
  if (Number.isInteger(value) && value >= least && value <= greatest) return value
  throw invalid(option, least === greatest ? `${least} here` : `an integer from ${least} to ${greatest}`, value)
}

/**
 * An unknown option would silently do something other than what the caller asked for; one that is undefined counts as
 * absent.
 * @throws PetalError InvalidOptions, which names the call, and the option
 */
export function assertOptions(call: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new PetalError('InvalidOptions', `${call} takes options as an object, got ${shown(options)}`, {
      details: { option: 'options', value: options }
    })
  }
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || known.includes(option)) continue
    throw new PetalError('InvalidOptions', `${call} has no option '${option}'`, { details: { option, value } })
  }
}

function invalid(option: string, expected: string, value: unknown): PetalError {
  return new PetalError('InvalidOptions', `${option}: expected ${expected}, got ${shown(value)}`, {
    details: { option, value }
  })
}

/** Formats any value for an error message. */
export function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // A bigint or a cycle: its kind has to suffice.
    return Object.prototype.toString.call(value)
  }
}
