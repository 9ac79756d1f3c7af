/**
 * Compacts a database's store until no obsolete version is left: replaced and deleted documents take space until their
 * tables are merged, and a lookup has to search tables of several levels.
 *
 * The key range is compacted piece by piece, split at area boundaries and every so many documents, so that compaction
 * can be aborted early and needs little extra space. Small areas are compacted together.
 */
import { throwIfAborted } from '../../model/errors.ts'
import type { Collections } from '../collections.ts'
import { fromStore } from '../errors.ts'
import type { Known } from '../known-options.ts'
import type { Store } from '../options.ts'
import { Area, compareBytes } from '../store/layout.ts'

/** Options of Database.compact(). */
export interface CompactOptions {
  /** Aborts with an AbortedError once the current piece is done; pieces compacted by then stay compacted. */
  readonly signal?: AbortSignal | undefined
  /** Called after every piece; `bytes` equals `totalBytes` in the last call. */
  readonly onProgress?: ((progress: CompactProgress) => void) | undefined
}

export const knownCompactOptions = { signal: true, onProgress: true } satisfies Known<CompactOptions>

/** Progress of a compaction. */
export interface CompactProgress {
  /** Approximate bytes of the original tables compacted so far. */
  readonly bytes: number
  readonly totalBytes: number
}

/** Result of Database.compact(). */
export interface CompactResult {
  /**
   * Size of the store's tables; both are undefined for a store without tables, such as `memory`, where there is nothing
   * to do.
   */
  readonly bytesBefore: number | undefined
  readonly bytesAfter: number | undefined
}

/** Approximate bytes of documents per piece. */
const pieceBytes = 64 * 1024 * 1024
/**
 * Adjacent pieces are joined up to this many bytes: each has its own merge, with several syncs. Not too many, because a
 * merge may have all its tables open.
 */
const joinedBytes = 4 * 1024 * 1024
const maxJoined = 100

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
    const areas = await cutsOf(collections)
    const [first = noKey, last = noKey] = [areas[0], areas.at(-1)]
    // The range is empty, but this flushes what is in memory.
    await store.compactRange(first, first, asBytes)
    const cuts = await joinSmall(store, areas)
    const bytesBefore = await store.approximateSize(first, last, asBytes)
    let bytes = 0
    const lastPiece = cuts.length - 2
    for (const [i, start] of cuts.slice(0, -1).entries()) {
      throwIfAborted(signal)
      const end = cuts[i + 1] ?? last
      bytes += await store.approximateSize(start, end, asBytes)
      await store.compactRange(start, end, asBytes)
      // The sum includes what is written meanwhile, and may miss a table that spans two pieces.
      onProgress?.({ bytes: i === lastPiece ? bytesBefore : Math.min(bytes, bytesBefore), totalBytes: bytesBefore })
    }
    throwIfAborted(signal)
    return { bytesBefore, bytesAfter: await store.approximateSize(first, last, asBytes) }
  } catch (error) {
    throw fromStore(error)
  }
}

/** Implemented by LsmLevel and Level. */
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

/**
 * Returns the ascending start keys of the pieces, and the end of the last one. All keys of a database lie in between.
 */
async function cutsOf(collections: Collections): Promise<readonly Uint8Array[]> {
  // Every area's prefix starts with an exclamation mark.
  const cuts: Uint8Array[] = [Uint8Array.of(0x21), Uint8Array.of(0x22)]
  for (const name of collections.names) {
    const number = collections.numberOf(name)
    const collection = await collections.openForRead(name)
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

/** Leaves out cuts between pieces that are small. */
async function joinSmall(store: CompactingStore, cuts: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const joined = cuts.slice(0, 1)
  let bytes = 0
  let count = 0
  for (const [i, start] of cuts.slice(0, -1).entries()) {
    const size = await store.approximateSize(start, cuts[i + 1] ?? start, asBytes)
    if (count === maxJoined || (bytes > 0 && bytes + size > joinedBytes)) {
      joined.push(start)
      bytes = 0
      count = 0
    }
    bytes += size
    count++
  }
  return [...joined, ...cuts.slice(-1)]
}
