/** Statistics of an index. */
import type { IndexStats } from './document-index.ts'
import type { RowCache } from './segment/row-cache.ts'
import { SealedSegment } from './segment/sealed-segment.ts'
import type { Segment } from './segment/segment.ts'
import type { SegmentHandle } from './segment/segment-handle.ts'
import type { TailKind } from './segment/tail/tail.ts'

export function indexStats(
  handles: readonly SegmentHandle[],
  cache: RowCache,
  recovered: number,
  { damage, unrepaired }: Pick<IndexStats, 'damage' | 'unrepaired'>
): IndexStats {
  const sum = (part: (handle: SegmentHandle) => number): number =>
    handles.reduce((total, handle) => total + part(handle), 0)
  // An older record has those of a fingerprint tail as its rows.
  const rowsOf = ({ segment, bytes }: SegmentHandle): number => (tailOf(segment) === 'bloom' ? bytes.hashedRows : 0)
  const hashedRows = sum(rowsOf)
  const fingerprints = sum((handle) => handle.bytes.hashedRows + handle.bytes.fingerprints - rowsOf(handle))
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
    unrepaired,
    bytes: {
      hashedRows,
      privateRows,
      rangeCodes,
      upperLevel,
      fingerprints,
      live,
      directory,
      total: hashedRows + privateRows + rangeCodes + upperLevel + fingerprints + live + directory
    },
    cache: { budgetBytes: cache.budgetBytes, usedBytes: cache.usedBytes, hits: cache.hits, misses: cache.misses },
    parameters: handles.map(({ firstOrdinal, segment }) => ({
      firstOrdinal,
      documents: segment.documents,
      sealed: segment instanceof SealedSegment,
      tail: tailOf(segment),
      shards: segment.shards,
      rowsPerPair: segment.rowsPerPair,
      privatePairs: segment.privatePairCount,
      columns: segment.columnSpecs.length,
      density: densityOf(segment),
      crowded: segment.crowdedDocuments
    }))
  }
}

function tailOf({ fingerprintBits }: Segment): TailKind {
  return fingerprintBits === undefined ? 'bloom' : 'fingerprint'
}

/**
 * Expected share of set bits in the hashed rows, from the mean number of hashed pairs; a fingerprint is one of 2^H
 * rows.
 */
function densityOf({ hashedPairs, documents, shards, rowsPerPair, fingerprintBits }: Segment): number {
  if (documents === 0) return 0
  if (fingerprintBits !== undefined) return hashedPairs / documents / 2 ** fingerprintBits
  return 1 - Math.exp((-rowsPerPair * hashedPairs) / documents / shards)
}
