/** An import by several threads leaves what one by this thread leaves. */
import { edit, mutant } from './mutant.mjs'

const committer = 'docstore/write/committer'
const many = 'docstore/write/many-inserts'

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
    edit('docstore/documents/leading-id', 'value * 10 + (bytes[at]! - 0x30)', 'value * 10 + bytes[at]! - 0x30'),
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
  ),
  mutant(
    'documents that were collected for a unit are left out where it is not filled',
    edit(many, '      if (this.isWaiting) await this.#load?.bulk.end()\n', ''),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'ids of documents behind the last one are told',
    edit(many, 'isLast ? this.#taken : error.index + 1', 'error.index + 1'),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'what was collected is told by ids that are copies',
    edit(many, 'this.#insertedIds[this.#tried + i] ??= id', 'this.#insertedIds[this.#tried + i] = id'),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'a run is inserted though the one before it failed',
    edit(many, 'writer.insert(run, ordered, this.#failuresBefore)', 'writer.insert(run, ordered)'),
    'docstore/failing-store'
  ),
  mutant(
    'null is made an id of its own by a thread',
    edit('docstore/bulk/record-load', 'if (id === undefined || id === null) return undefined', ''),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'documents that JSON does not hold are collected however many there are',
    edit(
      'docstore/bulk/record-load',
      'if (this.#flat > fewFlat && this.#flat * rareFlat > this.#taken) return undefined',
      ''
    ),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'documents of a unit do not count for the places of others',
    edit(many, '    this.#tried += documents\n', ''),
    'docstore/many-inserts-ends',
    'docstore/many-inserts'
  ),
  mutant(
    'a document that cannot be collected is inserted before those that were',
    edit(many, '    await this.pause()\n    return this.#isOver ||', '    return this.#isOver ||'),
    'docstore/many-inserts',
    'docstore/many-inserts-ends'
  ),
  mutant(
    'short lists are collected for units',
    edit(many, 'return (this.#left ?? this.#taken) >= this.#unitDocuments', 'return true'),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'an ObjectId in a record is a text',
    edit(
      'sharded-bloom/byte-scan/scanner',
      "case 'objectId':\n        return this.#constants.OBJECT_ID\n",
      "case 'objectId':\n        return 0\n"
    ),
    'docstore/many-inserts-ends'
  ),
  mutant(
    'the key of an ObjectId in a record is that of its digits',
    edit('docstore/bulk/unit-builder', "this.#idEnds[i - from]!, form === 'objectId')", 'this.#idEnds[i - from]!)'),
    'docstore/many-inserts'
  ),
  mutant(
    'digits of an ObjectId in upper case are taken for those it is hashed with',
    edit(
      'docstore/documents/leading-id',
      '(code >= 0x61 && code <= 0x66)',
      '((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)'
    ),
    'docstore/leading-id'
  ),
  mutant(
    'of two ids of a line of mongoexport the first is taken',
    edit(
      'docstore/documents/json-record',
      '    this.#assertOneId()\n',
      "    if (this.form === 'extended') this.#assertOneId()\n"
    ),
    'docstore/leading-id'
  ),
  mutant(
    'a unit ends in the middle of a line',
    edit('docstore/bulk/unit-collector', 'isOneBegun ? this.#ended + 1 : 1', '1'),
    'docstore/unit-collector'
  ),
  mutant(
    'the line that a source ends in is lost behind a unit',
    edit('docstore/bulk/bulk-load', 'await this.#host.insertOrdinarily(unfinished)', ''),
    'docstore/unit-sizes',
    'docstore/bulk-load'
  ),
  mutant(
    'nobody is told how many are to come',
    edit(
      'docstore/bulk/unit-sizes',
      '    this.#left = left\n    this.#units = undefined',
      '    this.#units = undefined'
    ),
    'docstore/unit-sizes'
  ),
  mutant(
    'parameters stay though a frequent value is new',
    edit('sharded-bloom/tune/earlier-choice', 'if (!frequent.every(({ lo }) => known.has(lo))) return undefined', ''),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'parameters stay however many hashed pairs documents have',
    edit(
      'sharded-bloom/tune/earlier-choice',
      'if (mean > maxGrowth * hashedPairs || mean < maxShrinking * hashedPairs) return undefined',
      ''
    ),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'parameters of one index serve another',
    edit('sharded-bloom/bulk/earlier-choices', 'if (text !== this.#plan) this.choice = undefined', ''),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'a choice is measured by the segment before',
    edit('sharded-bloom/rebuild/segment-builder', 'isSame ? choice.hashedPairs : ', ''),
    'sharded-bloom/earlier-choice'
  )
]
