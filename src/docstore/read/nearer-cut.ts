/**
 * Narrows a range of an order that has more candidates than are wanted. Where few documents match at first, as in a queue
 * from whose front much has been taken, a range that grows until there are matches has most of them behind the ones that
 * are wanted. To count candidates takes the time of some ten of them to be read.
 */
import type { RangeEnd } from '../../model/pairs.ts'
import type { Waiting } from './steps.ts'

/** The place in an order that about so many documents of a column are at or before. */
export interface Cut {
  readonly documents: number
  readonly key: RangeEnd['key']
}

/** Number of documents between which a cut is looked for. */
export interface CutRange {
  readonly after: number
  readonly before: number
}

const maxHalvings = 16

/**
 * Returns a cut with at least `enough` candidates and, unless that takes too many attempts, at most `many`; undefined if
 * there is none in the range.
 * @param keyAt a key that about so many documents are at or before; undefined if it is not known
 * @param countTo the number of candidates up to a key
 */
export function* nearerCut(
  { after, before }: CutRange,
  { enough, many }: { readonly enough: number; readonly many: number },
  keyAt: (documents: number) => Cut['key'] | undefined,
  countTo: (key: Cut['key']) => Waiting<number>
): Waiting<Cut | undefined> {
  let nearest: Cut | undefined
  let [low, high] = [after, before]
  for (let attempt = 0; attempt < maxHalvings && high - low > 1; attempt++) {
    const documents = (low + high) / 2
    const key = keyAt(documents)
    const count = key === undefined ? Number.POSITIVE_INFINITY : yield* countTo(key)
    if (count < enough) {
      low = documents
      continue
    }
    if (key !== undefined) nearest = { documents, key }
    if (count <= many) break
    high = documents
  }
  return nearest
}
