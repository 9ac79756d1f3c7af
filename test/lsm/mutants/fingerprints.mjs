/** A tail of fingerprints has every hashed pair at all of its positions. */
import { edit, mutant } from './mutant.mjs'

const tail = 'sharded-bloom/segment/tail'
const kernel = 'bloom/kernels/assembly/fingerprints'

export const fingerprints = [
  mutant(
    'the code after a skipped one is read as one less',
    edit(kernel, 'next = found + 1', 'next = found'),
    'sharded-bloom/fingerprint-codec'
  ),
  mutant(
    'a bucket crosses the end of a frame instead of continuing in the next one',
    edit(kernel, '(byte & FRAME_MASK) > FRAME_MASK - 7 || at >= end', 'at >= end'),
    'sharded-bloom/fingerprint-codec',
    'sharded-bloom/fingerprint-tails'
  ),
  mutant(
    'entries of one code lose the order of their positions',
    edit(`${tail}/entry-run`, 'codes[at - 1]! > code', 'codes[at - 1]! >= code'),
    'sharded-bloom/fingerprint-codec'
  ),
  mutant(
    'a run of fingerprints reaches beyond its chunk',
    edit(`${tail}/fingerprint-open`, 'if (isChunkComplete || ', 'if ('),
    'sharded-bloom/fingerprint-tails'
  ),
  mutant(
    'a checkpoint leaves out the run that is being filled',
    edit(`${tail}/fingerprint-open`, 'if (end > this.#first) this.#completeRun()', ''),
    'sharded-bloom/fingerprint-tails'
  ),
  mutant(
    'a checkpoint writes a run with documents that are not committed',
    edit(`${tail}/run-record`, 'documents < run.documents ? clipped(run, documents, bits) : run', 'run'),
    'sharded-bloom/fingerprint-tails'
  ),
  mutant(
    'a missing run of fingerprints is not noticed',
    edit(
      `${tail}/fingerprint-open`,
      "if (this.#documents < record.documents) throw damaged('a run of fingerprints is missing')",
      ''
    ),
    'sharded-bloom/fingerprint-tails'
  ),
  mutant(
    'the scanner drops facts when there are no rows',
    edit(
      'sharded-bloom/byte-scan/assembly/pairs',
      'if (hasRows()) addRows(hash)\n  else addHashed(hash)',
      'addRows(hash)'
    ),
    'sharded-bloom/byte-scan'
  )
]
