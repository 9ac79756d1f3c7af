/**
 * Merges what a database's store holds until nothing is kept twice: documents that were replaced or deleted take room
 * until their tables are merged, and tables of several levels have to be asked for one key.
 *
 * The whole range of keys is compacted piece by piece, cut where areas end and every so many documents: so it can be ended
 * early, and needs little room beside what is there.
 */
import { throwIfAborted } from '../../model/errors.ts'
import type { Collections } from '../collections.ts'
import { fromStore } from '../errors.ts'
import type { Known } from '../known-options.ts'
import type { Store } from '../options.ts'
import { Area, compareBytes } from '../store/layout.ts'

export interface CompactOptions {
  /** Ends it with an AbortedError, when the piece under way is done; what was compacted stays so. */
  readonly signal?: AbortSignal
  /** Called after every piece; the last time with all bytes. */
  readonly onProgress?: (progress: CompactProgress) => void
}

export const knownCompactOptions = { signal: true, onProgress: true } satisfies Known<CompactOptions>

export interface CompactProgress {
  /** Of the tables there were, about. */
  readonly bytes: number
  readonly totalBytes: number
}

export interface CompactResult {
  /** Of the store's tables; both undefined for a store that has none, as in memory: there is nothing to do. */
  readonly bytesBefore: number | undefined
  readonly bytesAfter: number | undefined
}

/** Bytes of documents in a piece, about. */
const pieceBytes = 64 * 1024 * 1024

/**
 * @throws PetalError IllegalOperation in a read-only database; StoreFailure, DataCorruption; AbortedError
 */
export async function compactDatabase(collections: Collections, options: CompactOptions = {}): Promise<CompactResult> {
  const { store } = collections
  const { signal, onProgress } = options
  collections.assertWritable()
  throwIfAborted(signal)
  if (!canCompact(store)) return { bytesBefore: undefined, bytesAfter: undefined }
  try {
    const cuts = await cutsOf(collections)
    const [first = noKey, last = noKey] = [cuts[0], cuts.at(-1)]
    // Nothing is in this range, but what is in memory is written out.
    await store.compactRange(first, first, asBytes)
    const bytesBefore = await store.approximateSize(first, last, asBytes)
    let bytes = 0
    const lastPiece = cuts.length - 2
    for (const [i, start] of cuts.slice(0, -1).entries()) {
      throwIfAborted(signal)
      const end = cuts[i + 1] ?? last
      bytes += await store.approximateSize(start, end, asBytes)
      await store.compactRange(start, end, asBytes)
      // What is written meanwhile is counted, too; and a table of two pieces may be in neither.
      onProgress?.({ bytes: i === lastPiece ? bytesBefore : Math.min(bytes, bytesBefore), totalBytes: bytesBefore })
    }
    return { bytesBefore, bytesAfter: await store.approximateSize(first, last, asBytes) }
  } catch (error) {
    throw fromStore(error)
  }
}

/** What LsmLevel and Level have. */
interface CompactingStore {
  compactRange(start: Uint8Array, end: Uint8Array, options: typeof asBytes): Promise<void>
  approximateSize(start: Uint8Array, end: Uint8Array, options: typeof asBytes): Promise<number>
}

const asBytes = { keyEncoding: 'view' } as const
const noKey = new Uint8Array(0)

function canCompact(store: Store): store is Store & CompactingStore {
  const { additionalMethods } = store.supports
  return additionalMethods?.compactRange === true && additionalMethods.approximateSize === true
}

/** Keys that begin the pieces, ascending, and the end of the last one: nothing of a database lies outside. */
async function cutsOf(collections: Collections): Promise<readonly Uint8Array[]> {
  // Every area's prefix begins with an exclamation mark.
  const cuts: Uint8Array[] = [Uint8Array.of(0x21), Uint8Array.of(0x22)]
  for (const name of collections.names) {
    const number = collections.numberOf(name)
    const collection = await collections.reading(name)
    if (number === undefined || collection === undefined) continue
    const { nextOrdinal, documentBytes } = collection.state
    const docs = new Area(`${number}.docs`)
    const pieces = Math.max(1, Math.ceil(documentBytes / pieceBytes))
    for (let i = 1; i < pieces; i++) cuts.push(docs.ordinalKey(Math.floor((nextOrdinal * i) / pieces)))
    const rest = [new Area(`${number}.ids`), new Area(`${number}.index`)]
    for (const { first, end } of [docs, ...rest]) cuts.push(first, end)
  }
  cuts.sort(compareBytes)
  return cuts.filter((cut, i) => i === 0 || compareBytes(cut, cuts[i - 1] ?? noKey) !== 0)
}
