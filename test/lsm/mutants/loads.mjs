/** An import by several threads leaves what one by this thread leaves. */
import { edit, mutant } from './mutant.mjs'

const committer = 'docstore/write/committer'

export const loads = [
  mutant(
    'views see documents of a unit in the store before the index has them',
    edit(committer, '    this.#snapshots.pin()\n    try {', '    try {'),
    'docstore/bulk-load-moments'
  ),
  mutant(
    'what a unit adds is counted again at the next open',
    edit('docstore/store/collection-store', 'for (const write of writes) batch.putIndexRecord(write)', ''),
    'docstore/bulk-load-crash'
  ),
  mutant(
    'a commit leaves the records of units that it counts',
    edit(committer, 'for (const key of loads) commit.batch.putIndexRecord({ key, value: undefined })', ''),
    'docstore/bulk-load-ends',
    'docstore/bulk-load'
  ),
  mutant(
    'ids of a unit are not looked for in the store',
    edit('docstore/write/writer', 'if (await this.#ids.isAnyStored(built.ids)) return false', ''),
    'docstore/bulk-load-moments'
  ),
  mutant(
    'an id twice in a unit is none',
    edit('docstore/bulk/unit-builder', 'return this.#ids.areDifferent', 'return true'),
    'docstore/bulk-load'
  ),
  mutant(
    'lines of units are not numbered',
    edit('docstore/import/import-lines', 'this.#splitter.passOver(lines)', ''),
    'docstore/bulk-load'
  ),
  mutant(
    'tombstones of ids are taken for those of others',
    edit('docstore/bulk/bulk-load', '=> !beginsWith(smallest, ids)', '=> true'),
    'docstore/bulk-load-moments'
  ),
  mutant(
    'units are published beside an index that was declared meanwhile',
    edit('docstore/bulk/bulk-load', 'if (!this.#isWelcome) return false', ''),
    'docstore/bulk-load-others'
  ),
  mutant(
    'units are published while the index is built again',
    edit('sharded-bloom/bulk/adoption', 'if (this.#rebuilds.isBuilding) return false', ''),
    'sharded-bloom/adoption'
  ),
  mutant(
    'a unit that was refused leaves its tables',
    edit(
      'docstore/bulk/bulk-load',
      '    await this.#discard(built)\n    await this.#turnBack(',
      '    await this.#turnBack('
    ),
    'docstore/bulk-load-ends',
    'docstore/bulk-load-crash',
    'docstore/bulk-load'
  ),
  mutant(
    'lines that a thread has when it dies are lost',
    edit('docstore/bulk/bulk-load', 'return nothingBuilt\n', "throw new Error('dead')\n"),
    'docstore/bulk-load-ends'
  ),
  mutant(
    'all index records of a unit share a table',
    edit('docstore/bulk/unit-tables', 'this.#small.finish(this.#ends())', 'this.#small.finish()'),
    'docstore/bulk-load-stores'
  ),
  mutant(
    'a document loses its beginning to the one before',
    edit('sharded-bloom/byte-scan/assembly/scan', '  v128.store(end, a)\n', ''),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'the last digit of a long _id is read as a double rounds it',
    edit('docstore/import/leading-id', 'value * 10 + (bytes[at]! - 0x30)', 'value * 10 + bytes[at]! - 0x30'),
    'docstore/leading-id'
  ),
  mutant(
    'what a dead thread has written stays',
    edit('docstore/bulk/bulk-load', 'await ingest.discardNumbers(firstNumber, numbers)', ''),
    'docstore/bulk-load-ends'
  ),
  mutant(
    'a line that the scanner refuses is asked about again',
    edit('docstore/documents/indexed-records', '!isTried && ', ''),
    'docstore/unit-builder'
  ),
  mutant(
    'runs stay long where lines are refused',
    edit('docstore/bulk/unit-builder', ': Math.max(1, i - from)', ': runEntries'),
    'docstore/unit-builder'
  )
]
