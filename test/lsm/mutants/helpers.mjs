/** Mistakes by which a read that threads help with differs from one without. */
import { edit, mutant } from './mutant.mjs'

const inParallel = 'docstore/read/parallel/in-parallel'
const scan = 'docstore/parallel-scan'
const aggregate = 'docstore/parallel-aggregate'

export const helpers = [
  mutant(
    'threads read the present instead of the snapshot of the read',
    edit(
      'docstore/store/collection-store',
      'this.#access.shareView!(first, end, snapshot)',
      'this.#access.shareView!(first, end, undefined)'
    ),
    scan
  ),
  mutant(
    'documents that a thread has read are counted again when they are returned',
    edit(inParallel, 'meter.documentsFetched = fetched', ''),
    scan
  ),
  mutant(
    'a thread finds matches from the newest to the oldest when they are wanted from the oldest',
    edit(inParallel, 'if (range.reverse) ordinals.reverse()', 'if (!range.reverse) ordinals.reverse()'),
    scan
  ),
  mutant(
    'an average forgets how many numbers a part had',
    edit('aggregate/exact-sum', 'this.#count += count', 'this.#count += Math.min(1, count)'),
    aggregate
  ),
  mutant(
    'a sum that overflows in a part is infinite',
    edit('aggregate/exact-sum', "if (this.#isHuge) throw new RangeError('The sum may overflow')", ''),
    aggregate
  ),
  mutant(
    'threads get filters that the caller has changed since the call',
    edit('aggregate/divide', 'sanitizeFilter(spec) : spec', 'spec : spec'),
    aggregate
  ),
  mutant(
    'what was an ObjectId is a plain object in another thread',
    edit(
      'docstore/read/parallel/portable',
      "if (!('_bsontype' in each)) return each",
      'if (each !== undefined) return each'
    ),
    scan,
    aggregate
  ),
  mutant(
    'parts of a limited pipeline go through its stages separately',
    edit('aggregate/divide', 'skip === 0 && !Number.isFinite(limit)', 'skip === 0'),
    aggregate
  ),
  mutant(
    'variables have no values in threads',
    edit('docstore/read/parallel/portable-read', 'copyOf(expressions?.constants ?? {})', 'copyOf({})'),
    scan
  ),
  mutant(
    'what a thread could not decide is left out',
    edit(
      inParallel,
      'if (decided === undefined) return yield* confirmPart(this.#execution, this.#confirmer, part)',
      'if (decided === undefined) return'
    ),
    scan
  ),
  mutant(
    'distinct values that other threads have found are lost',
    edit('docstore/read/distinct-values', 'for (const value of values) this.#note(value)', ''),
    aggregate
  ),
  mutant(
    'distinct values of segments that are left to threads are not read',
    edit('docstore/read/distinct', 'return !isForThreads', 'return true'),
    aggregate
  )
]
