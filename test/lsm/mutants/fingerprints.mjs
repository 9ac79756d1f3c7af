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
  ),
  mutant(
    'facts of a crowded document are left out',
    edit(
      'sharded-bloom/segment/open-segment',
      'if (isCrowded) for (let i = 0; i < hashes.length; i += 2)',
      'if (isCrowded) for (let i = 0; i < 0; i += 2)'
    ),
    'sharded-bloom/crowded-documents'
  ),
  mutant(
    'a scan that has lost facts of a crowded document is taken',
    edit(
      'sharded-bloom/segment/open-segment',
      'return hashCount === hashedPairs || !this.tail.isCrowded(hashedPairs)',
      'return true'
    ),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'groups of crowded documents are skipped',
    edit(`${tail}/split-open`, ' | (this.#crowded?.groups(pair) ?? 0)', ''),
    'sharded-bloom/fingerprint-tails'
  ),
  mutant(
    'crowded documents are found only where the rows find nothing',
    edit(`${tail}/split-sealed`, 'this.#crowded.orHashed(pair, out) === undefined ? undefined : true', 'true'),
    'sharded-bloom/fingerprint-tails',
    'sharded-bloom/crowded-documents'
  ),
  mutant(
    'a restored segment begins its fingerprints at its end',
    edit(`${tail}/split-open`, 'crowded.bits, crowded.from)', 'crowded.bits, record.documents)'),
    'sharded-bloom/fingerprint-tails'
  )
]
