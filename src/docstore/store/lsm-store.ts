/**
 * The LSM store as configured for a database.
 *
 * Invariant: each of a collection's areas (layout.ts) is a partition. So documents, which arrive in key order, are moved
 * down the levels once they are many, and never merged with ids, which do not.
 */
import type { StoreOptions } from '../../lsm/options.ts'
import type { LsmTuning, OpenOptions } from '../options.ts'
import { pairExtractor } from './pair-extractor.ts'

const mib = 1024 * 1024

/** `!1.docs!` */
const partitionDepth = 1

/** Smaller areas share tables: so a thousand small collections have a few dozen instead of thousands. */
const minPartitionSize = mib

/**
 * A compressed table of 2 MiB holds some 4,500 tweets, which set half of these bits; 1.2 % of absent pairs then look
 * present (measured; 17 % with half as many bits).
 */
const filterBits = 2 ** 19

export function hasValueFilters({ values = false }: LsmTuning = {}): boolean {
  return values !== false
}

/** Turns filters on, unless the options turn them off. */
export function withFilters(options: OpenOptions): OpenOptions {
  return { ...options, lsm: { values: true, ...options.lsm } }
}

/** Applies a database's options over defaults that suit a document store. */
export function lsmOptions({ values = false, ...given }: LsmTuning = {}): StoreOptions {
  const options = { cacheSize: 128 * mib, writeBufferSize: 16 * mib, ...given, partitionDepth, minPartitionSize }
  if (values === false) return options
  return { ...options, values: { filterBits, ...(values === true ? {} : values), extractor: pairExtractor } }
}
