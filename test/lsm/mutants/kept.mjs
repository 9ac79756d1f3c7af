/** Keeping documents decoded makes no difference but in time. */
import { edit, mutant } from './mutant.mjs'

export const kept = [
  mutant(
    'a reverse scan that is restarted leaves out its first record',
    edit('docstore/read/confirm-by-scan', 'to: wanted + 1', 'to: wanted'),
    'docstore/kept-scan'
  ),
  mutant(
    'a candidate in a skipped block is counted for the next one',
    edit('docstore/read/confirm-by-scan', 'noteRuledOut(at - before)', 'noteRuledOut(at - before - 1)'),
    'docstore/kept-scan'
  ),
  mutant(
    'kept documents are confirmed without a test',
    edit(
      'docstore/read/confirm-by-scan',
      'confirmer.offerCached(ordinal, kept, isCertain, view)',
      'confirmer.offerCached(ordinal, kept, true, view)'
    ),
    'docstore/kept-scan'
  ),
  mutant(
    'the mark of the document read longest ago is always the one replaced',
    edit(
      'docstore/documents/access-history',
      'times[one]! < times[other]! ? one : other',
      '[0, 1, 2, 3].map((i) => first + i).sort((a, b) => times[a] - times[b])[0]'
    ),
    'docstore/document-cache'
  ),
  mutant(
    'kept documents are copied by constructors although Object.prototype has changed',
    edit('docstore/documents/document-cache', 'if (stretch !== this.#checkedIn) {', 'if (this.#checkedIn < 0) {'),
    'docstore/kept-scan'
  ),
  mutant(
    'what a caller does between two slices counts as done by the read',
    edit('docstore/read/steps', 'Promise<T | undefined> {\n  resumptions++', 'Promise<T | undefined> {'),
    'docstore/kept-scan'
  ),
  mutant(
    'documents that are about to be replaced are cached',
    edit('docstore/read/find', 'source.capture(false)', 'source.capture()'),
    'docstore/document-cache'
  ),
  mutant(
    'a closed collection keeps its room',
    edit('docstore/documents/document-cache-budget', 'this.#usedBytes -= bytes', 'this.#usedBytes -= 0'),
    'docstore/document-cache'
  ),
  mutant(
    'the incomplete chunk of a row is kept too',
    edit(
      'sharded-bloom/segment/private-rows',
      'Math.floor(this.#partDocuments / this.#geometry.chunkDocuments)',
      'Math.ceil(this.#partDocuments / this.#geometry.chunkDocuments)'
    ),
    'sharded-bloom/private-rows-open'
  ),
  mutant(
    'a row that replaces another counts as already complete',
    edit('sharded-bloom/segment/kept-rows', 'row.slot = slot\n    row.chunks = 0', 'row.slot = slot'),
    'sharded-bloom/private-rows-open'
  ),
  mutant(
    'kept rows may use the last frames of row memory',
    edit('sharded-bloom/segment/kept-rows', 'freeFrames <= spareFrames', 'freeFrames === 0'),
    'sharded-bloom/private-rows-open'
  ),
  mutant(
    'a document found by _id is not tested by the rest of the filter',
    edit(
      'docstore/read/find-by-id',
      'match !== undefined && filter.matches(match.document) ? match : null',
      'match !== undefined ? match : null'
    ),
    'docstore/find-by-id'
  ),
  mutant(
    'a kept document found by _id is handed out itself',
    edit(
      'docstore/documents/document-cache',
      'document: copyByPlan(kept.document, kept.plan), characters',
      'document: kept.document, characters'
    ),
    'docstore/find-by-id',
    'docstore/document-cache'
  ),
  mutant(
    'a document whose update is being committed is looked for in what the store has by then',
    edit('docstore/read/find-by-id', 'snapshots.readOptions', 'store.readOptions()'),
    'docstore/find-by-id'
  )
]
