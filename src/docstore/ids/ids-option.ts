/**
 * How a collection maps an `_id` to its document: the caller's option, and what was fixed when the collection was
 * created.
 */

import { PetalError } from '../../model/errors.ts'
import type { Filled } from '../../model/filled.ts'
import { shown } from '../../model/invalid-option.ts'
import type { Known } from '../known-options.ts'
import { maxDomain, type ReversibleHeader, ReversibleIds } from './reversible-ids.ts'

/**
 * `'table'` accepts any `_id` and stores a table of them. `'reversible'` accepts only integers of a domain, [0, 2^32)
 * by default, and computes document positions from them without a table.
 */
export type IdsOption = 'table' | 'reversible' | ReversibleOption

/** Integer `_id`s of a given domain, from which document positions are computed. */
export interface ReversibleOption {
  readonly codec: 'reversible'
  /** Smallest `_id`. Default 0. */
  readonly from?: number | undefined
  /** Exclusive upper bound of the `_id`s. Default and maximum: `from` + 2^32. */
  readonly to?: number | undefined
}

export const knownReversible = { codec: true, from: true, to: true } satisfies Known<ReversibleOption>

/** The `_id`s that a collection with computed places accepts: `from` ≤ `_id` < `to`. */
export type Domain = Pick<ReversibleHeader, 'from' | 'to'>

/** Returns the requested domain, or `'table'`. @throws PetalError InvalidOptions */
export function checkIds(option: IdsOption): Domain | 'table' {
  if (option === 'table') return option
  const {
    codec,
    from = 0,
    to = Number.isSafeInteger(from) ? from + maxDomain : undefined
  }: Partial<ReversibleOption> = option === 'reversible' ? { codec: option } : (option ?? {})
  if (codec !== 'reversible') {
    throw invalid(`must be 'table', 'reversible' or { codec: 'reversible', from, to }`)
  }
  if (to === undefined || !isDomain(from, to)) {
    throw invalid(`must have integers 'from' < 'to', at most 2^32 apart, got ${shown(from)} and ${shown(to)}`)
  }
  return { from, to }
}

function isDomain(from: unknown, to: unknown): boolean {
  if (typeof from !== 'number' || typeof to !== 'number') return false
  return Number.isSafeInteger(from) && Number.isSafeInteger(to - 1) && from < to && to - from <= maxDomain
}

/** Returns the header of a new collection; undefined for a table. */
export function newHeader(option: IdsOption): ReversibleHeader | undefined {
  const asked = checkIds(option)
  if (asked === 'table') return undefined
  const [lo = 0, hi = 0] = crypto.getRandomValues(new Int32Array(2))
  return { codec: 'reversible', ...asked, key: [lo, hi] }
}

/** @throws PetalError InvalidOptions when the collection was created with other ids than requested */
export function assertSameIds(name: string, stored: ReversibleHeader | undefined, option: IdsOption | undefined): void {
  if (option === undefined) return
  const asked = checkIds(option)
  if (asked === 'table' ? stored === undefined : isWithin(stored, asked, option)) return
  const is = (domain: Domain | undefined): string =>
    domain === undefined ? "'table'" : `'reversible' in [${domain.from}, ${domain.to})`
  const wanted = asked === 'table' ? undefined : asked
  throw new PetalError(
    'InvalidOptions',
    `The collection '${name}' was created with ids: ${is(stored)}, but opened with ids: ${is(wanted)}`,
    { details: { option: 'ids', stored: stored ?? 'table', asked: wanted ?? 'table' } }
  )
}

/** How `_id`s are kept, in the form that collection() accepts. */
export function idsOption(header: ReversibleHeader | undefined): 'table' | Filled<ReversibleOption> {
  if (header === undefined) return 'table'
  const { codec, from, to } = header
  return { codec, from, to }
}

/** @throws PetalError DataCorruption */
export function idsOf(name: string, header: ReversibleHeader | undefined): ReversibleIds | undefined {
  if (header === undefined) return undefined
  const { codec, from, to, key } = header
  const isSound =
    codec === 'reversible' && isDomain(from, to) && key?.length === 2 && key.every((half) => Number.isInteger(half))
  if (isSound) return new ReversibleIds(header)
  throw new PetalError('DataCorruption', `The catalog record for the ids of '${name}' is damaged`, {
    details: { header }
  })
}

/** A request that names no domain accepts any stored one. */
function isWithin(stored: ReversibleHeader | undefined, asked: Domain, option: IdsOption): boolean {
  if (stored === undefined || option === 'reversible') return stored !== undefined
  return stored.from === asked.from && stored.to === asked.to
}

function invalid(what: string): PetalError {
  return new PetalError('InvalidOptions', `ids ${what}`, { details: { option: 'ids' } })
}
