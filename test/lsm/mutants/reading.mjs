/** Reads see one moment. */
import { edit, mutant } from './mutant.mjs'

export const reading = [
  mutant(
    'an iterator sees writes after its creation',
    edit(
      'lsm/read/range-scan',
      'new VisibleCursor(entries, this.#view, this.#range)',
      'new VisibleCursor(entries, { sequence: Number.MAX_SAFE_INTEGER, epoch: undefined, gaps: undefined }, this.#range)'
    ),
    'lsm/engine-snapshots',
    'lsm/model-sizes'
  ),
  mutant(
    'a scan keeps no block that it sought',
    edit(
      'lsm/format/block-source',
      "if (this.#options.fillCache !== 'none')",
      "if (this.#options.fillCache === 'all')"
    ),
    'lsm/table-cache'
  ),
  mutant(
    'what is put into a gap stays hidden',
    edit('lsm/engine/apply-batches', 'gaps?.isEmpty === false ? addTakingFromGaps : add', 'add'),
    'lsm/gaps-model'
  ),
  mutant(
    'a gap serves snapshots that are older than it',
    edit('lsm/read/gaps', 'if (gap === undefined || gap.sequence > view.sequence)', 'if (gap === undefined)'),
    'lsm/gaps-model',
    'lsm/gaps'
  ),
  mutant(
    'a snapshot notes gaps into which something was put since',
    edit('lsm/read/gaps', '|| view.sequence !== sequence) return', ') return'),
    'lsm/gaps-model',
    'lsm/gaps'
  ),
  mutant(
    'a view from before an ingest makes its tables a gap',
    edit('lsm/read/gaps', 'if (epoch === undefined || view.epoch !== epoch ||', 'if (epoch === undefined ||'),
    'lsm/gaps-model',
    'lsm/gaps'
  ),
  mutant(
    'gaps outlast an ingest into them',
    [edit('lsm/read/gaps', 'view.epoch === this.#epoch && view.epoch === this.#now.epoch', 'view.epoch !== undefined')],
    'lsm/gaps-model',
    'lsm/gaps'
  ),
  mutant(
    'a range leaves out the table that ends at its first key',
    edit('lsm/version/level', 'start === undefined ? 0 : firstEndingAt', 'start === undefined ? 0 : firstStartingAt'),
    'lsm/range-tables'
  ),
  mutant(
    'a range leaves out the table that begins before its end',
    edit('lsm/version/level', 'compareKeys(tables[i]!.smallest, end) < 0', 'compareKeys(tables[i]!.largest, end) < 0'),
    'lsm/range-tables'
  ),
  mutant(
    'every table of level 0 is opened, whatever the range',
    edit('lsm/engine/engine-read-view', '...level0Runs(young)', '...level0Runs(level0)'),
    'lsm/range-tables'
  ),
  mutant(
    'a reverse scan opens the tables at the other end first',
    edit('lsm/engine/engine-read-view', '(isReverse ? run.at(-1) : run[0])!', 'run[0]!'),
    'lsm/range-tables'
  ),
  mutant(
    'the tables at the start of the range are opened in spite of a seek',
    edit('lsm/read/range-scan', 'this.#state === atTarget ? this.#rest : this.#range', 'this.#range'),
    'lsm/range-tables'
  ),
  mutant(
    'all tables are opened before the first entry',
    edit(
      'lsm/engine/engine-read-view',
      'this.tables.table(table)\n',
      'for (const each of [table, ...this.#unopened]) this.tables.table(each)\n'
    ),
    'lsm/range-tables'
  ),
  mutant(
    'an arena is reused while a view reads it',
    edit('lsm/engine/write-buffer', 'if (this.#users === 0) this.memtable', 'this.memtable'),
    'lsm/engine-snapshots',
    'lsm/model-sizes'
  ),
  mutant(
    'older tables of level 0 are read first',
    edit(
      'lsm/version/level',
      'b.largestSequence - a.largestSequence || b.number - a.number',
      'a.largestSequence - b.largestSequence || a.number - b.number'
    ),
    'lsm/version-levels',
    'lsm/model-sizes'
  ),
  mutant(
    'a key filter is queried with other hashes than it was built with',
    edit(
      'lsm/format/key-filter',
      '    const bits = this.#bits\n    const step = stepOf(hash)\n',
      '    const bits = this.#bits\n    const step = Math.imul(stepOf(hash), 3)\n'
    ),
    'lsm/table-key-filter',
    'lsm/model-sizes'
  ),
  mutant(
    'a value is returned as a view of a cached block',
    edit(
      'lsm/engine/point-reads',
      '  const value = Buffer.allocUnsafe(valueEnd - valueStart)\n  value.set(valueBytes.subarray(valueStart, valueEnd))\n',
      '  const value = Buffer.from(valueBytes.buffer, valueBytes.byteOffset + valueStart, valueEnd - valueStart)\n'
    ),
    'lsm/engine-own-bytes'
  ),
  mutant(
    'a seek out of range moves to the target',
    edit('lsm/read/range-scan', 'isInRange(this.#range, this.#target) ? atTarget : ended', 'atTarget'),
    'lsm/iterator-range',
    'lsm/model-sizes'
  ),
  mutant(
    'a cursor over one block exposes memory that is reused',
    edit('lsm/format/table', 'cursor.load(this.#block(block, true).copy())', 'cursor.load(this.#block(block, true))'),
    'lsm/cache-ring'
  ),
  mutant(
    'a moved block is read at its old place',
    edit('lsm/format/block', '    this.#start = at\n    this.#entriesEnd += at - start\n', ''),
    'lsm/cache-ring'
  ),
  mutant(
    'a block read without the cache is taken to be still in memory',
    edit('lsm/format/table-file', ' &&\n      sharedBlock.generation === memoryGeneration()', ''),
    'lsm/table-cache'
  ),
  mutant(
    'a read over several turns does not retain its view',
    edit('lsm/engine/map-keys', '          view ??= engine.view(at)\n          await', '          await'),
    'lsm/engine-disk-reads'
  ),
  mutant(
    'a snapshot loses the tables that are dropped',
    edit('lsm/engine/snapshots', '    for (const snapshot of this.#open) snapshot.hold()\n', ''),
    'lsm/engine-clear'
  ),
  mutant(
    'a snapshot taken during a drop loses the dropped tables',
    edit('lsm/engine/snapshots', '    if (this.#edits > 0) snapshot.hold()\n', ''),
    'lsm/engine-clear'
  ),
  mutant(
    'tables are dropped with entries put since the call',
    edit('lsm/engine/drop-range', ' && largestSequence <= sequence', ''),
    'lsm/engine-clear'
  ),
  mutant(
    'tables are dropped while others hold entries that they hide',
    edit('lsm/engine/drop-range', 'if (tables.length === 0) return dropped', 'if (tables.length >= 0) return dropped'),
    'lsm/engine-clear',
    'lsm/model-levels'
  ),
  mutant(
    'tables are dropped before the tombstones of others are durable',
    edit('lsm/engine/drop-range', '    await engine.sync()\n', ''),
    'lsm/engine-clear-faults'
  ),
  mutant(
    'clear() writes no tombstone for a key whose newest version is one',
    edit(
      'lsm/engine/stored-keys',
      '    let hasValue = false\n    do {\n      if (versions.kind === EntryKind.put && versions.sequence <= this.#maxSequence) hasValue = true\n',
      '    const hasValue = versions.kind === EntryKind.put\n    do {\n'
    ),
    'lsm/model-histories'
  ),
  mutant(
    'a block is skipped although another table has versions of its keys',
    edit('lsm/read/merging-cursor', 'top.skipBlocks(mayHold, smaller(limit, rival))', 'top.skipBlocks(mayHold, limit)'),
    'lsm/skip-blocks'
  ),
  mutant(
    'a block is skipped although the next one has older versions of its last key',
    edit('lsm/format/table-cursor', 'if (this.#beginsWithSeparator(block, passed)) break', ''),
    'lsm/skip-blocks'
  ),
  mutant(
    'older versions of the last skipped key are shown',
    edit(
      'lsm/read/visible-cursor',
      '    entries.skipBlocks(mayHold, limit)\n    this.#skipKey()\n',
      '    entries.skipBlocks(mayHold, limit)\n'
    ),
    'lsm/skip-blocks'
  ),
  mutant(
    'a scan that skips blocks continues after its range',
    edit('lsm/read/range-scan', 'skipBlocks(mayHold, this.#range.end)', 'skipBlocks(mayHold, undefined)'),
    'lsm/skip-blocks'
  ),
  mutant(
    'a scan ends before the block that its end lies in',
    edit(
      'lsm/format/table-cursor',
      'compareSeparator(block - 1, this.#end) >= 0',
      'compareSeparator(block, this.#end) >= 0'
    ),
    'lsm/table-reads'
  ),
  mutant(
    'a scan reads the block whose keys begin at its end',
    edit(
      'lsm/format/table-cursor',
      'compareSeparator(block - 1, this.#end) >= 0',
      'compareSeparator(block - 1, this.#end) > 0'
    ),
    'lsm/table-cache'
  ),
  mutant(
    'a scan reads ahead behind its end',
    edit(
      'lsm/format/table',
      'new BlockSource(this.#file, this.#cached, options, end)',
      'new BlockSource(this.#file, this.#cached, options)'
    ),
    'lsm/table-cache'
  ),
  mutant(
    'a large block is separated by its last key before one that is larger',
    edit('lsm/format/separator', ' && payloadBytes > nextValueBytes', ''),
    'lsm/table-cache'
  ),
  mutant(
    'a scan reads whatever block comes next',
    edit(
      'lsm/format/table-cursor',
      'return this.#end !== undefined && block > 0',
      'return false && this.#end !== undefined && block > 0'
    ),
    'lsm/table-cache'
  ),
  mutant(
    'inspecting a block overwrites the block that a cursor is in',
    edit('lsm/format/block-source', 'this.#next = this.#next === 0 ? 1 : 0', 'this.#next = 0'),
    'lsm/skip-blocks'
  ),
  mutant(
    'a young table with a wide range is hidden by a narrower one',
    edit(
      'lsm/version/level0-search',
      'if (reach === undefined || compareKeys(largest, reach) > 0) reach = largest',
      'reach = largest'
    ),
    'lsm/version-levels'
  ),
  mutant(
    'young tables are not ordered by age',
    edit('lsm/version/level0-search', 'found.sort((a, b) => this.#places[a]! - this.#places[b]!)', ''),
    'lsm/version-levels'
  ),
  mutant(
    'a cleared range of a read-only index hides records written since',
    edit(
      'docstore/store/overlay-index-records',
      'if (this.#overlay.has(name)) return this.#overlay.get(name)?.slice()\n    return this.#isCleared(name)',
      'if (this.#overlay.has(name) && !this.#isCleared(name)) return this.#overlay.get(name)?.slice()\n    return this.#isCleared(name)'
    ),
    'docstore/overlay-index-records'
  ),
  mutant(
    'records deleted by a read-only index reappear',
    edit(
      'docstore/store/overlay-index-records',
      'if (!this.#overlay.has(name) && !',
      'if (this.#overlay.get(name) === undefined && !'
    ),
    'docstore/overlay-index-records'
  ),
  mutant(
    'verify() does not count the entries of declared indexes',
    edit('docstore/jobs/verify-declared', 'if (count !== this.#expected)', 'if (count < 0)'),
    'docstore/verify'
  ),
  mutant(
    'verify() of a read-only database tells only of damage found after opening',
    edit('docstore/jobs/verify', 'isReadOnly ? damage : unrepaired', 'isReadOnly ? unrepaired : unrepaired'),
    'docstore/verify'
  ),
  mutant(
    'a repair keeps the older of two documents with the same _id',
    edit('docstore/jobs/repair', "if (codeName === 'DuplicateKey') await", "if (codeName === 'BadValue') await"),
    'docstore/repair'
  ),
  mutant(
    'documents beyond the state of a collection are not looked for',
    edit('docstore/store/sound-state', 'return true\n', 'return false\n'),
    'docstore/sound-state'
  ),
  mutant(
    'verify() accepts any entry of a unique index',
    edit('docstore/jobs/verify-declared', 'else if (unique) {', 'else if (!unique) {'),
    'docstore/verify'
  ),
  mutant(
    'logs are frozen in the order of their numbers',
    edit('lsm/fs/frozen-directory', "namesOf(names, 'log').reverse()", "namesOf(names, 'log')"),
    'lsm/fs-frozen'
  ),
  mutant(
    'a log that is appended to is read once to be frozen',
    edit('lsm/fs/frozen-directory', 'if (!first.equals(second)) return', 'if (length < 0) return'),
    'lsm/fs-frozen'
  ),
  mutant(
    'whether a manifest has changed is not looked at after freezing',
    edit(
      'lsm/fs/frozen-directory',
      'if (!areSame(manifests, readManifests(lower, root))) return undefined\n',
      'if (manifests.size < 0) return undefined\n'
    ),
    'lsm/fs-frozen'
  ),
  mutant(
    'files are listed to be frozen before the manifest is read',
    edit(
      'lsm/fs/frozen-directory',
      'const manifests = readManifests(lower, root)\n    if (manifests === undefined) return undefined\n    const names = listed(lower, root)\n',
      'const names = listed(lower, root)\n    const manifests = readManifests(lower, root)\n    if (manifests === undefined) return undefined\n'
    ),
    'lsm/fs-frozen'
  ),
  mutant(
    'tables of a frozen directory are opened when they are needed',
    edit(
      'lsm/fs/frozen-directory',
      'if (content === undefined) throw',
      "if (name.endsWith('.sst')) return this.#lower.open(path, mode)\n    if (content === undefined) throw"
    ),
    'lsm/fs-frozen'
  )
]
