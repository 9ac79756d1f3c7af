/** Creates the index of a collection; the only module that knows all kinds of index. */
import { PetalError } from '../model/errors.ts'
import { invalidOption } from '../model/invalid-option.ts'
import type { DocumentIndex, IndexStats } from '../sharded-bloom/document-index.ts'
import { checkHashChoice } from '../sharded-bloom/hash-choice.ts'
import { ScatteredIndex } from '../sharded-bloom/scattered/scattered-index.ts'
import { geometryOf } from '../sharded-bloom/segment/geometry.ts'
import { createShardedIndex } from '../sharded-bloom/sharded-index.ts'
import { checkTuning } from '../sharded-bloom/tune/tuning-options.ts'
import type { Domain } from './ids/ids-option.ts'
import { isOptions } from './option-checks.ts'
import type { IndexKind, IndexOptions, OpenOptions } from './options.ts'
import { createScanIndex, noIndexBytes } from './scan-index.ts'
import type { CollectionStore } from './store/collection-store.ts'

const kinds: readonly (string | undefined)[] = ['sharded', 'embedded', 'none'] satisfies IndexKind[]
const defaultKind: IndexKind = 'sharded'

/**
 * Normalises the index option; `kind` stays undefined if the caller leaves it to the collection.
 * @throws PetalError InvalidOptions, even for an option that the chosen kind does not use
 */
export function indexOptions(option: OpenOptions['index']): IndexOptions {
  const options: IndexOptions = typeof option === 'string' ? { kind: option } : (option ?? {})
  if (!isOptions(options)) throw invalidOption('index', 'an index kind or an object', options)
  const { kind } = options
  if (kind !== undefined && !kinds.includes(kind)) throw invalidOption('index', "'sharded', 'embedded' or 'none'", kind)
  checkHashChoice(options.hash)
  checkTuning(options)
  const { segmentBits, cacheBytes } = options
  if (segmentBits !== undefined && segmentBits !== null) geometryOf(segmentBits)
  if (cacheBytes !== undefined && cacheBytes !== null && !(Number.isSafeInteger(cacheBytes) && cacheBytes >= 0)) {
    throw invalidOption('cacheBytes', 'a whole number ≥ 0', cacheBytes)
  }
  return options
}

/** @throws PetalError CommandNotSupported for 'embedded' on a store without filters */
export function checkSupport({ kind }: IndexOptions, hasFilters: boolean): void {
  if (kind !== 'embedded' || hasFilters) return
  throw new PetalError(
    'CommandNotSupported',
    "index: 'embedded' needs a database on the LSM store, opened with lsm: { values: true }",
    { details: { option: 'index' } }
  )
}

/** @throws PetalError InvalidOptions for computed ids with an index that requires ascending ordinals */
export function assertIndexFor(ids: Domain | 'table', kind: IndexKind): void {
  if (ids === 'table' || kind === 'sharded') return
  throw new PetalError('InvalidOptions', `ids: 'reversible' needs index: 'sharded', not '${kind}'`, {
    details: { option: 'index' }
  })
}

/** Returns the kind for a collection whose index records are of kind `stored` (undefined for a new collection). */
export function indexKind(options: IndexOptions, stored: string | undefined): IndexKind {
  return options.kind ?? (kinds.includes(stored) ? (stored as IndexKind) : defaultKind)
}

export function createIndex(
  kind: IndexKind,
  options: IndexOptions,
  store: CollectionStore,
  isReadOnly: boolean
): DocumentIndex {
  switch (kind) {
    case 'embedded':
      return createScanIndex((limit) => store.ordinals(limit), 'embedded')
    case 'none':
      return createScanIndex((limit) => store.ordinals(limit))
    case 'sharded': {
      const sharded = {
        store: store.indexStore,
        documents: store.source,
        segmentDocuments: options.segmentBits,
        tail: options.tail,
        shards: options.shards,
        rowsPerPair: options.rowsPerPair,
        bitsPerPosting: options.bitsPerPosting,
        hash: options.hash,
        cacheBytes: options.cacheBytes,
        rangeCodes: options.rangeCodes
      }
      const { ids, documentsAt } = store
      if (ids === undefined) return createShardedIndex(sharded)
      return new ScatteredIndex({ ...sharded, size: ids.size, documentsAt, isReadOnly })
    }
  }
}

/** Statistics of the index of a collection that does not exist yet. */
export const noIndex: IndexStats = {
  kind: 'none',
  segments: 0,
  documents: 0,
  dead: 0,
  recovered: 0,
  damage: [],
  unrepaired: [],
  bytes: noIndexBytes,
  cache: { budgetBytes: 0, usedBytes: 0, hits: 0, misses: 0 },
  parameters: []
}
