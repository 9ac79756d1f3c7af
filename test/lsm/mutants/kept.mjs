/** Documents kept decoded: nobody can tell, but by the clock. */
import { edit, mutant } from './mutant.mjs'

export const kept = [
  mutant(
    'a scan in reverse that is begun anew leaves out its first record',
    edit('docstore/read/confirm', 'to: wanted + 1', 'to: wanted'),
    'docstore/kept-scan'
  ),
  mutant(
    'a candidate in a block that was passed is counted for the next',
    edit('docstore/read/confirm', 'noteRuledOut(at - before)', 'noteRuledOut(at - before - 1)'),
    'docstore/kept-scan'
  ),
  mutant(
    'what is kept is confirmed without a test',
    edit(
      'docstore/read/confirm',
      'confirmer.offerKept(ordinal, kept, isCertain, view)',
      'confirmer.offerKept(ordinal, kept, true, view)'
    ),
    'docstore/kept-scan'
  ),
  mutant(
    'the mark of the earliest document always makes room',
    edit(
      'docstore/documents/last-asked',
      'times[one]! < times[other]! ? one : other',
      '[0, 1, 2, 3].map((i) => first + i).sort((a, b) => times[a] - times[b])[0]'
    ),
    'docstore/document-cache'
  ),
  mutant(
    'documents kept are copied by constructors after a turn in which others changed Object.prototype',
    edit(
      'docstore/documents/document-cache',
      'if (!this.#arePlansChecked) this.#checkPlans()',
      'this.#arePlansChecked = true'
    ),
    'docstore/kept-scan'
  ),
  mutant(
    'a collection that is closed keeps its room',
    edit('docstore/documents/document-room', 'this.#usedBytes -= bytes', 'this.#usedBytes -= 0'),
    'docstore/document-cache'
  ),
  mutant(
    'of a kept row the incomplete chunk is kept, too',
    edit(
      'sharded-bloom/segment/private-rows',
      'Math.floor(this.#partDocuments / this.#geometry.chunkDocuments)',
      'Math.ceil(this.#partDocuments / this.#geometry.chunkDocuments)'
    ),
    'sharded-bloom/private-rows-open'
  ),
  mutant(
    'a row that takes the place of another is thought to be there',
    edit('sharded-bloom/segment/kept-rows', 'row.slot = slot\n    row.chunks = 0', 'row.slot = slot'),
    'sharded-bloom/private-rows-open'
  ),
  mutant(
    'rows are kept with the last frame of row memory',
    edit('sharded-bloom/segment/kept-rows', 'freeFrames <= spareFrames', 'freeFrames === 0'),
    'sharded-bloom/private-rows-open'
  )
]
