/** Reads many keys as of one moment, yielding to the event loop as needed. */
import { lookupOrder } from '../read/key-order.ts'
import type { CacheOptions } from '../typed-level.ts'
import type { Engine } from './engine.ts'
import type { EngineReadView } from './engine-read-view.ts'
import { isTurnLong, nextTurn } from './event-loop-turn.ts'
import type { Places } from './point-reads.ts'
import { prepareReads } from './prepare-reads.ts'
import type { Moment } from './snapshots.ts'

/** Keys between two checks of the clock. */
const keysPerCheck = 32
/** Keys whose blocks are read ahead at the same time: finding the blocks takes a few milliseconds. */
const keysPerPreparation = 128

/**
 * Reads in key order.
 * @param at a snapshot, or the engine itself: as of now
 * @returns the result of `read` for each key, in the order of `keys`
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function mapKeys<T>(
  engine: Engine,
  keys: readonly Uint8Array[],
  at: Moment,
  { fillCache }: CacheOptions,
  read: (places: Places, key: Uint8Array, sequence: number, fillCache: boolean) => T
): Promise<T[]> {
  const asOf = at.sequence
  const isThreaded = engine.options.diskReads === 'threaded'
  const order = lookupOrder(keys)
  const results = new Array<T>(keys.length)
  // Taken before the first yield: the places read across event-loop turns have to stay.
  let view: EngineReadView | undefined
  try {
    for (let i = 0; i < order.length; i++) {
      if (isThreaded && i % keysPerPreparation === 0) {
        const next = Array.from(order.slice(i, i + keysPerPreparation), (position) => keys[position]!)
        const reads = prepareReads(view ?? at, next, asOf)
        if (reads.length > 0) {
          view ??= engine.view(at)
          await Promise.all(reads)
        }
      }
      if (i % keysPerCheck === keysPerCheck - 1 && isTurnLong()) {
        view ??= engine.view(at)
        await nextTurn()
      }
      const position = order[i]!
      results[position] = read(view ?? at, keys[position]!, asOf, fillCache !== false)
    }
    return results
  } finally {
    view?.release()
  }
}
