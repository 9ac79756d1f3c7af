/** Change streams report committed changes, and documents expire when they must. */
import { edit, mutant } from './mutant.mjs'

const committer = 'docstore/write/committer'
const telling = 'docstore/watch/notify-streams'
const buffer = 'docstore/watch/change-buffer'
const expired = 'docstore/indexes/expired'

export const changes = [
  mutant(
    'streams opened during a batch do not get its changes',
    [
      edit(committer, "    let watching: ChangeFeed['streams']\n", '    const watching = this.#feed.streams\n'),
      edit(committer, '      watching = this.#feed.streams\n', '')
    ],
    'docstore/watch'
  ),
  mutant(
    'documents before a change are read from the current state',
    edit(telling, 'run.map(oldOrdinal), before.options)', 'run.map(oldOrdinal), store.readOptions())'),
    'docstore/watch'
  ),
  mutant(
    'the next batch does not wait until the changes of this one are reported',
    edit(committer, 'await notifyStreams(changesOf(commit)', 'void notifyStreams(changesOf(commit)'),
    'docstore/watch',
    'docstore/watch-model'
  ),
  mutant(
    'a stream buffers without limit what its consumer does not take',
    edit(buffer, '!this.isEmpty && this.#bytes + bytes > maxBufferedBytes', 'this.#bytes < 0'),
    'docstore/watch-stream'
  ),
  mutant(
    'an update description lists single fields although their order changed',
    edit(
      'docstore/watch/update-description',
      'keptKeys(before, after).every((key, i) => key === keys[i])',
      'keptKeys(before, after).length <= keys.length'
    ),
    'docstore/update-description'
  ),
  mutant(
    'an update description does not tell which fields moved',
    edit('docstore/watch/update-description', 'else if (!isUnmoved || !isIdentical', 'else if (!isIdentical'),
    'docstore/update-description'
  ),
  mutant(
    'a stream with a signal is never found abandoned',
    edit(
      'docstore/watch/change-stream',
      'callOnAbort(signal, () => buffer.discard())',
      'callOnAbort(signal, () => this.#close())'
    ),
    'docstore/change-feeds'
  ),
  mutant(
    'a document expires a millisecond late',
    edit(expired, '{ $lte: latest }', '{ $lt: latest }'),
    'docstore/expiry'
  ),
  mutant(
    'a document expires although it was saved after its index entry was read',
    edit(expired, '|| !filter.matches(document)) continue', ') continue'),
    'docstore/expiry'
  ),
  mutant(
    'a sweep continues after its index was dropped',
    edit(expired, '  if (!isDeclared(collection, index)) return 0\n', ''),
    'docstore/expiry'
  )
]
