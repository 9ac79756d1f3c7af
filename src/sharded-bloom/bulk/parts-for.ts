/** The parts of an index, for building its segments in a thread that has nothing but the plan. */
import { loadHasher } from '../../bloom/hash.ts'
import { rowMemory } from '../../bloom/kernels/index.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import { IndexParts } from '../index-parts.ts'
import { CheckedStore } from '../records/checked-store.ts'
import { geometryOf } from '../segment/geometry.ts'
import { RowCache } from '../segment/row-cache.ts'
import type { SegmentPlan } from './bulk-plan.ts'

/** @param write receives the records; it must copy what it keeps */
export async function partsFor(
  { seedLo, seedHi, segmentDocuments, tuning }: SegmentPlan,
  write: (record: IndexWrite) => void
): Promise<{ readonly parts: IndexParts; readonly store: IndexStore }> {
  const memory = rowMemory()
  const store = new CheckedStore(new WriteOnlyStore(write))
  const context = {
    store,
    documents: noDocuments,
    memory,
    // Nothing is read back.
    cache: new RowCache(memory, 0),
    geometry: geometryOf(segmentDocuments),
    tuning: () => tuning,
    handles: [],
    onDamage: () => {},
    onMaintenanceDue: async () => {}
  }
  return { parts: new IndexParts(context, await loadHasher('murmur'), { seedLo, seedHi }), store }
}

const noDocuments = {
  read: async function* (): AsyncGenerator<never> {}
}

/** Passes records on and stores none. */
class WriteOnlyStore implements IndexStore {
  readonly #write: (record: IndexWrite) => void

  constructor(write: (record: IndexWrite) => void) {
    this.#write = write
  }

  get(): undefined {}

  async write(operations: readonly IndexWrite[]): Promise<void> {
    for (const operation of operations) this.#write(operation)
  }

  async clear(): Promise<void> {}

  async *scan(): AsyncGenerator<never> {}
}
