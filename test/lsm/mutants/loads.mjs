/** An import by several threads has the same result as one by this thread. */
import { edit, mutant } from './mutant.mjs'

const committer = 'docstore/write/committer'
const many = 'docstore/write/insert-many-run'

export const loads = [
  mutant(
    'views see documents of a unit before the index has them',
    edit(committer, '    this.#snapshots.pin()\n    try {', '    try {'),
    'docstore/bulk-load-moments'
  ),
  mutant(
    'documents of a unit are counted again at the next open',
    edit('docstore/store/collection-store', 'for (const write of writes) batch.putIndexRecord(write)', ''),
    'docstore/bulk-load-crash'
  ),
  mutant(
    'a commit does not delete the records of the units that it counts',
    edit(committer, 'for (const key of loads) commit.batch.putIndexRecord({ key, value: undefined })', ''),
    'docstore/bulk-load-ends',
    'docstore/bulk-load'
  ),
  mutant(
    'ids of a unit are not looked up in the store',
    edit('docstore/write/writer', 'if (await this.#ids.isAnyStored(built.ids)) return false', ''),
    'docstore/bulk-load-moments'
  ),
  mutant(
    'a duplicate id within a unit is not noticed',
    edit('docstore/bulk/unit-builder', 'return this.#ids.areDistinct', 'return true'),
    'docstore/bulk-load'
  ),
  mutant(
    'lines of units do not count for line numbers',
    edit('docstore/import/import-lines', 'this.#splitter.skipLines(lines)', ''),
    'docstore/bulk-load'
  ),
  mutant(
    'tombstones of ids do not prevent the publication of a unit',
    edit('docstore/bulk/bulk-load', '=> !beginsWith(smallest, ids)', '=> true'),
    'docstore/bulk-load-moments'
  ),
  mutant(
    'units are published although an index was declared meanwhile',
    edit('docstore/bulk/bulk-load', 'if (!this.#isAllowed) return false', ''),
    'docstore/bulk-load-others'
  ),
  mutant(
    'units are published while the index is rebuilt',
    edit('sharded-bloom/bulk/adoption', 'if (this.#rebuilds.isBuilding) return false', ''),
    'sharded-bloom/adoption'
  ),
  mutant(
    'a refused unit leaves its tables behind',
    edit(
      'docstore/bulk/bulk-load',
      '    await this.#discard(built)\n    await this.#insertRest(',
      '    await this.#insertRest('
    ),
    'docstore/bulk-load-ends',
    'docstore/bulk-load-crash',
    'docstore/bulk-load'
  ),
  mutant(
    'the lines of a thread that dies are lost',
    edit('docstore/bulk/bulk-load', '        return undefined\n      })', "        throw new Error('dead')\n      })"),
    'docstore/bulk-load-ends'
  ),
  mutant(
    'all index records of a unit share a table',
    edit('docstore/store/index-tables', 'this.#tables.finish(this.#ends())', 'this.#tables.finish()'),
    'docstore/bulk-load-stores'
  ),
  mutant(
    'the scan of a document overwrites the beginning of the next one',
    edit('sharded-bloom/byte-scan/assembly/scan', '  v128.store(end, a)\n', ''),
    'sharded-bloom/byte-scan'
  ),
  mutant(
    'the last digit of a long _id is read as a double rounds it',
    edit('docstore/documents/leading-id', 'value * 10 + (bytes[at]! - 0x30)', 'value * 10 + bytes[at]! - 0x30'),
    'docstore/leading-id'
  ),
  mutant(
    'files of a thread that died stay',
    edit('docstore/bulk/bulk-load', 'await ingest.discardNumbers(firstNumber, numbers)', ''),
    'docstore/bulk-load-ends'
  ),
  mutant(
    'a line that the scanner refused is scanned again',
    edit('docstore/documents/indexed-records', '!isTried && ', ''),
    'docstore/unit-builder'
  ),
  mutant(
    'runs stay long although lines are refused',
    edit('docstore/bulk/unit-builder', ': Math.max(1, i - from)', ': runEntries'),
    'docstore/unit-builder'
  ),
  mutant(
    'documents collected for a unit are lost if it is not filled',
    edit(many, '      if (this.hasPending) await this.#load?.bulk.finish()\n', ''),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'ids of documents collected after the one that ended the call are reported',
    edit(many, 'isLast ? this.#taken : error.index + 1', 'error.index + 1'),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'ids of collected documents are reported as copies',
    edit('docstore/write/inserted-ids', 'if (this.#at(start + i) === undefined) this.set', 'this.set'),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'a run is inserted although the previous one failed',
    edit(many, 'writer.insert(run, ordered, this.#failuresBefore)', 'writer.insert(run, ordered)'),
    'docstore/failing-store'
  ),
  mutant(
    'a thread accepts null as an _id',
    edit('docstore/bulk/record-load', 'if (id === undefined || id === null) return undefined', ''),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'documents that JSON cannot represent are collected however many there are',
    edit(
      'docstore/bulk/record-load',
      'if (this.#flat > fewFlat && this.#flat * rareFlat > this.#taken) return undefined',
      ''
    ),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'documents of a unit do not count for the positions of later ones',
    edit(many, '    this.#attempted += documents\n', ''),
    'docstore/insert-many-run-ends',
    'docstore/insert-many-run'
  ),
  mutant(
    'a document that cannot be collected is inserted before those collected earlier',
    edit(many, '    await this.pause()\n    return this.#isOver ||', '    return this.#isOver ||'),
    'docstore/insert-many-run',
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'short lists are collected for units',
    edit(many, 'return (this.#left ?? this.#taken) >= this.#unitDocuments', 'return true'),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'an ObjectId in a record is indexed as a text',
    edit(
      'sharded-bloom/byte-scan/scanner',
      "case 'objectId':\n        return this.#constants.OBJECT_ID\n",
      "case 'objectId':\n        return 0\n"
    ),
    'docstore/insert-many-run-ends'
  ),
  mutant(
    'an ObjectId in a record gets the key of the text of its digits',
    edit('docstore/bulk/unit-builder', "this.#idEnds[i - from]!, form === 'objectId')", 'this.#idEnds[i - from]!)'),
    'docstore/insert-many-run'
  ),
  mutant(
    'upper-case digits of an ObjectId are hashed as they are',
    edit(
      'docstore/documents/leading-id',
      '(code >= 0x61 && code <= 0x66)',
      '((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)'
    ),
    'docstore/leading-id'
  ),
  mutant(
    'the first of two ids in a line of mongoexport is used',
    edit(
      'docstore/documents/json-record',
      '    this.#assertOneId()\n',
      "    if (this.form === 'extended') this.#assertOneId()\n"
    ),
    'docstore/leading-id'
  ),
  mutant(
    'a unit may end in the middle of a line',
    edit('docstore/bulk/unit-collector', 'isOneBegun ? this.#completeLines + 1 : 1', '1'),
    'docstore/unit-collector'
  ),
  mutant(
    'the unfinished last line of a source is lost after a unit',
    edit('docstore/bulk/bulk-load', 'await this.#host.insertNormally(unfinished)', ''),
    'docstore/unit-sizes',
    'docstore/bulk-load'
  ),
  mutant(
    'the number of lines to come is ignored',
    edit(
      'docstore/bulk/unit-sizes',
      '    this.#left = left\n    this.#units = undefined',
      '    this.#units = undefined'
    ),
    'docstore/unit-sizes'
  ),
  mutant(
    'all units of a list of objects have the same size',
    edit(
      'docstore/bulk/unit-sizes',
      'Math.min(left / units, (left - (units - 2) * this.#maxLines) / 2)',
      'left / units'
    ),
    'docstore/unit-sizes'
  ),
  mutant(
    'the last units of lines are equal, although their threads are not in step',
    edit('docstore/bulk/unit-sizes', 'together - busy[0]!', 'equal'),
    'docstore/unit-sizes'
  ),
  mutant(
    'parameters are kept although there is a new frequent value',
    edit('sharded-bloom/tune/earlier-choice', 'if (!frequent.every(({ lo }) => known.has(lo))) return undefined', ''),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'parameters are kept however many hashed pairs documents have',
    edit(
      'sharded-bloom/tune/earlier-choice',
      'if (mean > maxGrowth * hashedPairs || mean < maxShrinking * hashedPairs) return undefined',
      ''
    ),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'parameters of one index are used for another',
    edit('sharded-bloom/bulk/earlier-choices', 'if (text !== this.#plan) this.choice = undefined', ''),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'a choice of parameters is measured by the previous segment',
    edit('sharded-bloom/rebuild/segment-builder', 'isSame ? choice.hashedPairs : ', ''),
    'sharded-bloom/earlier-choice'
  ),
  mutant(
    'keys of the id table keep the prefix of a run whose keys began elsewhere',
    edit('docstore/bulk/entry-runs', '      if (keyEnds[i] !== at) aligned = 0\n', ''),
    'docstore/bulk-load'
  ),
  mutant(
    'an ordinal with one more digit than the one before begins with 0',
    edit('docstore/store/ordinal-digits', 'digits[at] = zero + 1', 'digits[at] = zero'),
    'docstore/bulk-load'
  ),
  mutant(
    'a line that the scanner has not read may be any bytes',
    edit(
      'docstore/bulk/unit-lines',
      "    if (!isUtf8(line)) throw new PetalError('FailedToParse', 'not valid UTF-8')\n",
      ''
    ),
    'docstore/unit-builder'
  ),
  mutant(
    'memory of a chunk is read into again while its lines wait to be inserted',
    edit('docstore/import/import-lines', '      isCopied = false\n', ''),
    'docstore/import-file'
  ),
  mutant(
    'memory that is no chunk of a file is read into',
    edit('lsm/fs/file-chunks', '!this.#lent.delete(chunk.buffer) || ', ''),
    'lsm/file-chunks'
  )
]
