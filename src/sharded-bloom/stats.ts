/** The index in numbers. */
import type { IndexStats } from './document-index.ts'
import type { RowCache } from './segment/row-cache.ts'
import type { SegmentHandle } from './segment/segment-handle.ts'

export function indexStats(
  handles: readonly SegmentHandle[],
  cache: RowCache,
  recovered: number,
  damage: readonly string[]
): IndexStats {
  const sum = (part: (handle: SegmentHandle) => number): number =>
    handles.reduce((total, handle) => total + part(handle), 0)
  const hashedRows = sum((handle) => handle.bytes.hashedRows)
  const privateRows = sum((handle) => handle.bytes.privateRows)
  const rangeCodes = sum((handle) => handle.bytes.rangeCodes)
  const upperLevel = sum((handle) => handle.bytes.upperLevel)
  const live = sum((handle) => handle.liveBytes)
  const directory = sum((handle) => handle.directoryBytes + handle.bytes.pairTable)
  return {
    kind: 'sharded',
    segments: handles.length,
    documents: sum((handle) => handle.segment.documents - handle.live.dead),
    dead: sum((handle) => handle.live.dead),
    recovered,
    damage: [...damage],
    bytes: {
      hashedRows,
      privateRows,
      rangeCodes,
      upperLevel,
      live,
      directory,
      total: hashedRows + privateRows + rangeCodes + upperLevel + live + directory
    },
    cache: { budgetBytes: cache.budgetBytes, usedBytes: cache.usedBytes, hits: cache.hits, misses: cache.misses },
    parameters: handles.map(({ firstOrdinal, segment, open }) => ({
      firstOrdinal,
      documents: segment.documents,
      sealed: open === undefined,
      shards: segment.shards,
      rowsPerPair: segment.rowsPerPair,
      privatePairs: segment.privatePairCount,
      columns: segment.columnSpecs.length,
      density: densityOf(segment.hashedPairs, segment.documents, segment.shards, segment.rowsPerPair)
    }))
  }
}

/** Expected share of set bits in the hashed rows, from the mean number of hashed pairs. */
function densityOf(hashedPairs: number, documents: number, shards: number, rowsPerPair: number): number {
  return documents === 0 ? 0 : 1 - Math.exp((-rowsPerPair * hashedPairs) / documents / shards)
}
