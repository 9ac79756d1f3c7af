import { edit, mutant } from './mutant.mjs'

export const rebuilds = [
  mutant(
    'positions before the first gap of a rebuilt segment get the first ordinal',
    edit(
      'sharded-bloom/rebuild/offset-list',
      'consecutive(position, this.#capacity)',
      'consecutive(0, this.#capacity)'
    ),
    'sharded-bloom/rebuild'
  ),
  mutant(
    'segments of threads take numbers under which the store has tombstones',
    edit(
      'sharded-bloom/rebuild/rebuilds',
      'while (!(await remote.isUnused(rangesFrom(this.#nextNumber)))) this.#nextNumber++',
      ''
    ),
    'docstore/rebuild-remote'
  ),
  mutant(
    'segments being built are not on the list of leftovers',
    edit('sharded-bloom/rebuild/rebuild', 'await leftovers.add(number)', ''),
    'docstore/rebuild-crash',
    'sharded-bloom/rebuild'
  ),
  mutant(
    'documents removed while a rebuild was running come back',
    edit('sharded-bloom/rebuild/rebuild', 'handle?.remove(ordinal)', ''),
    'sharded-bloom/rebuild',
    'docstore/rebuild-remote'
  ),
  mutant(
    'a rebuild ends with the first full segment',
    edit(
      'sharded-bloom/rebuild/build-segment',
      'return sealed(builder, store, number, ordinal)',
      'return sealed(builder, store, number, undefined)'
    ),
    'sharded-bloom/rebuild'
  ),
  mutant(
    'a segment is stored before the open one that a rebuild replaces',
    edit(
      'sharded-bloom/maintenance',
      'return (handles[n + 1]?.segment.documents ?? 0) >= geometry.chunkDocuments || this.#isSealable(n + 1)',
      'return geometry === undefined'
    ),
    'sharded-bloom/rebuild'
  ),
  mutant(
    'an aborted rebuild leaves the open segment waiting for another',
    edit('sharded-bloom/rebuild/rebuild', 'for (const handle of this.#replaced) handle.isBeingReplaced = false', ''),
    'sharded-bloom/rebuild'
  ),
  mutant(
    'a thread does not see the last write',
    edit('lsm/thread-view/thread-view', 'this.sequence = sequence', 'this.sequence = sequence - 1'),
    'lsm/thread-view'
  ),
  mutant(
    'a thread does not see what is only in memory',
    edit('lsm/engine/share-view', '.filter(({ isEmpty }) => !isEmpty)', '.filter(({ isEmpty }) => isEmpty)'),
    'lsm/thread-view',
    'docstore/rebuild-remote'
  ),
  mutant(
    'on a full disk a rebuild goes on through the log',
    edit('docstore/rebuild/remote-segments', "if (hasCode(error, 'LEVEL_IO_ERROR')) failure ??= { error }", ''),
    'docstore/full-disk'
  ),
  mutant(
    'an error of the progress function is lost',
    edit('docstore/rebuild/remote-segments', 'if (failure !== undefined) throw failure.error', ''),
    'docstore/rebuild-remote',
    'docstore/rebuild-remote-faults'
  ),
  mutant(
    'skipped lines are reported in the order in which they are found',
    edit('docstore/import/import-run', '.sort((a, b) => a.line - b.line)', ''),
    'docstore/import-lines'
  ),
  mutant(
    'segments without a live document stay until a rebuild',
    edit('sharded-bloom/sharded-index', ' || this.#dead.isDue', ''),
    'sharded-bloom/dead-segments',
    'docstore/dead-segments'
  ),
  mutant(
    'the last segment is dropped when all its documents are dead',
    edit('sharded-bloom/rebuild/dead-segments', 'slice(0, -1)', 'slice()'),
    'sharded-bloom/dead-segments'
  ),
  mutant(
    'a merge elsewhere forgets which documents of computed ordinals were deleted',
    edit('sharded-bloom/scattered/scattered-index', 'await this.#built.storeDead()', ''),
    'docstore/reversible-crash'
  ),
  mutant(
    'segments of failed batches are dropped',
    edit('sharded-bloom/rebuild/dead-segments', 'isDead && open === undefined', 'isDead'),
    'sharded-bloom/dead-segments'
  ),
  mutant(
    'a rebuild deletes records of segments that were never stored',
    edit('sharded-bloom/rebuild/rebuilds', 'replaced.filter(({ checkpointed }) => checkpointed > 0)', 'replaced'),
    'sharded-bloom/dead-segments'
  ),
  mutant(
    'a rebuilt segment spans the ordinals of a failed batch',
    edit(
      'sharded-bloom/rebuild/rebuild',
      'Math.min(last?.endOrdinal ?? 0, this.#context.limit)',
      'last?.endOrdinal ?? 0'
    ),
    'sharded-bloom/dead-segments'
  ),
  mutant(
    'dead segments are dropped beside a rebuild that replaces them',
    edit('sharded-bloom/rebuild/dead-segments', 'if (this.#rebuilds.isBuilding) return', ''),
    'sharded-bloom/dead-segments'
  ),
  mutant(
    'dead segments whose drop failed are forgotten',
    edit('sharded-bloom/rebuild/dead-segments', '      this.#isNoted = true\n      throw error', '      throw error'),
    'sharded-bloom/dead-segments'
  ),
  mutant(
    'the open segment is built again when earlier ones are dropped',
    edit('sharded-bloom/rebuild/dead-segments', '    onDrop()', ''),
    'sharded-bloom/dead-segments'
  )
]
