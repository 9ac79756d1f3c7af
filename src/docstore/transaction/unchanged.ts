/** Committed documents as a transaction sees them: without those that it has changed. */
import { encodeKey } from '../../model/key.ts'
import type { Document } from '../../model/types.ts'
import type { CompiledFilter } from '../../query/filter.ts'

/**
 * Returns a filter that no changed document matches, and that is not evaluated for one: an expression may fail for a
 * document that the transaction does not see. Documents that the index proves to match are not tested at all.
 * @param isChanged by encoded `_id`
 */
export function amongUnchanged(filter: CompiledFilter, isChanged: (id: Uint8Array) => boolean): CompiledFilter {
  return {
    matches: (document: Document) => !isChanged(encodeKey(document._id)) && filter.matches(document),
    prefilter: filter.prefilter,
    byteTest: filter.byteTest,
    hasCallback: filter.hasCallback,
    bounds: filter.bounds,
    ids: filter.ids,
    paths: () => {
      const paths = filter.paths()
      return paths && new Set(paths).add('_id')
    },
    namesId: filter.namesId,
    constraints: filter.constraints,
    unbounded: filter.unbounded,
    // Other threads do not know what was changed.
    source: undefined
  }
}
