/** Change streams tell what was committed, and documents expire when they must. */
import { edit, mutant } from './mutant.mjs'

const committer = 'docstore/write/committer'
const telling = 'docstore/watch/commit-telling'
const buffer = 'docstore/watch/change-buffer'
const expired = 'docstore/indexes/expired'

export const changes = [
  mutant(
    'streams that were made while a batch was under way are not told of it',
    [
      edit(committer, "    let watching: ChangeFeed['streams']\n", '    const watching = this.#feed.streams\n'),
      edit(committer, '      watching = this.#feed.streams\n', '')
    ],
    'docstore/watch'
  ),
  mutant(
    'documents before a change are read as committed now',
    edit(telling, 'run(ordinalsBefore), before.options)', 'run(ordinalsBefore), store.readOptions())'),
    'docstore/watch'
  ),
  mutant(
    'the next batch does not wait until this one is told',
    edit(
      committer,
      'await tellCommit({ kind, ordinalsBefore: removed',
      'void tellCommit({ kind, ordinalsBefore: removed'
    ),
    'docstore/watch',
    'docstore/watch-model'
  ),
  mutant(
    'a stream holds whatever its consumer does not take',
    edit(buffer, '!this.isEmpty && this.#bytes + bytes > maxBufferedBytes', 'this.#bytes < 0'),
    'docstore/watch-stream'
  ),
  mutant(
    'fields are told one by one though their order changed',
    edit(
      'docstore/watch/update-description',
      ' && kept.every((key, i) => key === keys[i])',
      ' && kept.length <= keys.length'
    ),
    'docstore/update-description'
  ),
  mutant(
    'a document expires a millisecond late',
    edit(expired, '{ $lte: latest }', '{ $lt: latest }'),
    'docstore/expiry'
  ),
  mutant(
    'a document that was saved since its index entry was read expires all the same',
    edit(expired, '|| !filter.matches(document)) continue', ') continue'),
    'docstore/expiry'
  ),
  mutant(
    'a sweep outlives its index',
    edit(expired, '  if (!isThere(collection, index)) return 0\n', ''),
    'docstore/expiry'
  )
]
