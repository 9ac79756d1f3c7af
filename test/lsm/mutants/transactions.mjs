/** Transactions are committed as a whole or not at all, and see what is theirs. */
import { edit, mutant } from './mutant.mjs'

const session = 'docstore/transaction/session'
const staged = 'docstore/transaction/staged-changes'
const committing = 'docstore/transaction/commit-changes'
const model = 'docstore/transaction-model'
const cases = 'docstore/transaction'
const answers = 'docstore/transaction-answers'

export const transactions = [
  mutant(
    'a transaction finds the committed version of what it has changed, too',
    edit('docstore/transaction/unchanged', 'capture(fillsCache, this.#changed)', 'capture(fillsCache)'),
    cases,
    model
  ),
  mutant(
    'a view of the index shows what it is to hide',
    edit('sharded-bloom/segment/captured-segment', 'hidden.size === 0 ? undefined', 'hidden.size >= 0 ? undefined'),
    'sharded-bloom/views',
    cases
  ),
  mutant(
    'recent versions of hidden documents are shown',
    edit('sharded-bloom/scattered/recent-versions', 'capture(this.#visible, slots)', 'capture(this.#visible)'),
    answers
  ),
  mutant(
    'without an index, hidden documents are shown',
    edit('docstore/scan-index', 'dead.length === 0 ? words', 'dead.length >= 0 ? words'),
    answers
  ),
  mutant(
    'an _id leads to a hidden document',
    edit('docstore/read/executor', 'view.shows(ordinal)', 'ordinal < view.limit'),
    answers
  ),
  mutant(
    'entries of a declared index lead to hidden documents',
    edit('docstore/indexes/entry-reader', '!view.shows(ordinal)', 'ordinal >= view.limit'),
    answers
  ),
  mutant(
    'a transaction that has changed something reads documents beyond the limit',
    edit(staged, 'skip: 0, limit: most }', 'skip: 0, limit: most + 1000 }'),
    cases
  ),
  mutant(
    'a transaction looks at what it has changed where documents before that are enough',
    edit(staged, 'isEnough ? []', 'isEnough && find.limit === 0 ? []'),
    cases
  ),
  mutant(
    'others write to collections that a transaction holds',
    edit(session, 'return this.#released.promise', 'return Promise.resolve()'),
    cases
  ),
  mutant(
    'collections are free before the last call has ended',
    edit(session, 'this.#calls.then(() => this.#released.resolve())', 'this.#released.resolve()'),
    'docstore/transaction-faults'
  ),
  mutant(
    'calls that were not waited for are left out',
    edit('docstore/transaction/transaction', '  await session.idle()\n', ''),
    cases
  ),
  mutant(
    'an _id that was deleted in a transaction is taken',
    edit(staged, ': before.after !== undefined', ': true'),
    cases,
    model
  ),
  mutant(
    'what a transaction has inserted and deleted again is deleted once more',
    edit(staged, 'return original !== after', 'return true'),
    'docstore/transaction-watch',
    model
  ),
  mutant(
    'documents that are as they were are written again',
    edit(staged, 'return !isSameDocument(after.record, original.record)', 'return true'),
    'docstore/transaction-watch'
  ),
  mutant(
    'documents of a transaction are handed out themselves',
    edit(staged, 'kind === undefined ? document : cloneDocument(document)', 'document'),
    cases
  ),
  mutant(
    '_ids that a transaction has inserted are not noted',
    edit(committing, "if (kind === 'insert') writer.noteId(key)", ''),
    cases,
    model
  ),
  mutant(
    'unique keys are taken from documents that are replaced later in the same transaction',
    edit(
      committing,
      '    if (original !== undefined) committer.remove(commit, original, key)\n  }\n  for (const { after } of changes) {\n    if (timeSlice.isOver()) await timeSlice.renew()\n',
      '  }\n  for (const { after, key, original } of changes) {\n    if (timeSlice.isOver()) await timeSlice.renew()\n    if (original !== undefined) committer.remove(commit, original, key)\n'
    ),
    cases
  ),
  mutant(
    'two documents of a transaction may have the same unique key',
    edit(
      'docstore/indexes/entry-writes',
      'this.owners.set(ownerKey(index, key), noOrdinalYet)',
      'ownerKey(index, key)'
    ),
    cases
  ),
  mutant(
    'documents of a transaction take ordinals before those of other collections are admitted',
    edit(
      committing,
      'admitChanges(part)\n    }\n    const [first] = parts\n    if (first === undefined) return\n    for (const part of parts) await addChanges(part)\n',
      'admitChanges(part)\n      await addChanges(part)\n    }\n    const [first] = parts\n    if (first === undefined) return\n'
    ),
    cases
  ),
  mutant(
    'a transaction may change any number of documents',
    edit('docstore/transaction/room', '    assertDocuments(all.documents)\n', ''),
    cases
  ),
  mutant(
    'an update that changes nothing ends after as many matches as a transaction may change',
    edit(staged, "if (use === 'replace') assertDocuments(found.length)", ''),
    cases
  ),
  mutant(
    'calls go on when their transaction is over',
    edit('docstore/transaction/transaction-collection', '    request.control.endWith(session)\n', ''),
    cases
  ),
  mutant(
    'an expression that takes long is evaluated to its end although the time of its transaction is over',
    edit(session, 'performance.now() > deadline.at', 'performance.now() < 0'),
    'docstore/time-limit-expressions'
  ),
  mutant(
    'threads do not know when the time of a transaction is over',
    edit('docstore/read/control', 'return own ?? ofWhole', 'return own'),
    'docstore/parallel-scan'
  ),
  mutant(
    'an unordered bulkWrite() tries all its operations where a transaction has no room for them',
    edit('docstore/write/bulk-write', " ||\n    codeName === 'TransactionTooLarge'", ''),
    cases
  )
]
