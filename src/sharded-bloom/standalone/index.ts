/** The public exports of `petaldb/sharded-bloom`: the data structure without the store. */
export { BitSet } from '../../bloom/bit-set.ts'
export { type HashName, loadHasher, type PairHasher } from '../../bloom/hash.ts'
export { type ErrorName, PetalError } from '../../model/errors.ts'
export { and, type Expression, not, or, type Pair } from './expression.ts'
export { KeyedPermutation } from './keyed-permutation.ts'
export type { Id, IdsOption, Parameters, ShardedBloomOptions, TailName } from './options.ts'
export type { QueryResult } from './query-result.ts'
export { ShardedBloom, type ShardedBloomStats } from './sharded-bloom.ts'
