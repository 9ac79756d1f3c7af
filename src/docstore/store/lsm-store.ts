/**
 * The LSM store as a database uses it: which of its options are set how, and why.
 *
 * Invariant: each of a collection's areas (layout.ts) is a partition of its own, so that documents, which arrive in key
 * order, are moved down the levels and never merged with ids, which do not.
 */
import type { StoreOptions } from '../../lsm/options.ts'
import type { LsmTuning, OpenOptions } from '../options.ts'
import { pairExtractor } from './pair-extractor.ts'

const mib = 1024 * 1024

/** `!1.docs!` */
const partitionDepth = 1

/**
 * A table of 2 MiB, compressed, holds some 4,500 tweets: half of these bits are then set, and 1.2 % of absent pairs seem
 * to be there (measured; with half as many bits, 17 %).
 */
const filterBits = 2 ** 19

export function keepsFilters({ values = false }: LsmTuning = {}): boolean {
  return values !== false
}

/** The options with filters, unless they say that there are to be none. */
export function withFilters(options: OpenOptions): OpenOptions {
  return { ...options, lsm: { values: true, ...options.lsm } }
}

/** What a database's options say, over what suits a document store. */
export function lsmOptions({ values = false, ...given }: LsmTuning = {}): StoreOptions {
  const options = { cacheSize: 128 * mib, writeBufferSize: 16 * mib, ...given, partitionDepth }
  if (values === false) return options
  return { ...options, values: { filterBits, ...(values === true ? {} : values), extractor: pairExtractor } }
}
