/**
 * The private pairs of an open segment, in slot order: a JSON list of pairs as in segment-record.ts. They are written
 * with the first checkpoint, and again when there are more: most chunks come without new pairs, and a list is a hundred
 * times the size of the segment record. Before format 9 the segment record contained them.
 */
import { PetalError } from '../../model/errors.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import type { TaggedPair } from '../pairs/pair-tags.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import type { OpenSegment } from './open-segment.ts'
import { parsePair, type SegmentRecord } from './segment-record.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

export function openPairsKey(firstOrdinal: number): Uint8Array {
  return indexKey(IndexArea.openPairs, firstOrdinal)
}

export function openPairsWrite({ firstOrdinal, pairTexts, table }: OpenSegment): IndexWrite & { value: Uint8Array } {
  return { key: openPairsKey(firstOrdinal), value: pairTexts.list(table.pairs) }
}

/** Reads the private pairs of a stored open segment. @throws PetalError IndexDamaged */
export async function readOpenPairs(store: IndexStore, record: SegmentRecord): Promise<readonly TaggedPair[]> {
  const { firstOrdinal, pairs, storedPairs } = record
  if (storedPairs === 0) return pairs
  const bytes = await store.get(openPairsKey(firstOrdinal))
  const stored = bytes && decode(bytes)
  if (stored?.length === storedPairs) return stored
  throw new PetalError('IndexDamaged', `The private pairs of the segment at ordinal ${firstOrdinal} are damaged`, {
    details: { firstOrdinal }
  })
}

/** Undefined for what is not a list of pairs. */
function decode(bytes: Uint8Array): readonly TaggedPair[] | undefined {
  try {
    return (JSON.parse(decoder.decode(bytes)) as readonly unknown[]).map(parsePair)
  } catch {
    return undefined
  }
}
