/** Acknowledged writes are kept. */
import { edit, mutant } from './mutant.mjs'

export const durability = [
  mutant(
    'a closed store leaves a manifest whose end can get lost unnoticed',
    edit('lsm/version/current-manifest', 'this.#log !== undefined && this.#edits > 0', 'this.#edits < 0'),
    'lsm/corruption-truncation'
  ),
  mutant(
    'a manifest that was replaced is still made durable, through a closed file',
    edit('lsm/version/current-manifest', '    this.#settle = undefined\n    old?.close()', '    old?.close()'),
    'lsm/manifest-install'
  ),
  mutant(
    'the directory is not synced after CURRENT is renamed',
    edit(
      'lsm/version/current-file',
      'join(directory, currentName))\n  await fileSystem.syncDirectory(directory)',
      'join(directory, currentName))'
    ),
    'lsm/manifest-current',
    'lsm/manifest-install',
    'lsm/crash-tables'
  ),
  mutant(
    'CURRENT is written in place',
    edit('lsm/version/current-file', 'join(directory, temporaryName(manifestNumber))', 'join(directory, currentName)'),
    'lsm/manifest-current',
    'lsm/manifest-install'
  ),
  mutant(
    'CURRENT is renamed before it is synced',
    edit('lsm/version/current-file', '    await file.sync()\n', ''),
    'lsm/manifest-current',
    'lsm/manifest-install'
  ),
  mutant(
    'tables are installed before they are synced',
    edit('lsm/compaction/table-outputs', '    await Promise.all(this.#pendingSyncs)\n', ''),
    'lsm/compaction-job',
    'lsm/compaction-failures',
    'lsm/crash-tables'
  ),
  mutant(
    'tables are installed before their names are durable',
    edit('lsm/version/version-set', '      await this.#fileSystem.syncDirectory(this.#directory)\n', ''),
    'lsm/manifest-install',
    'lsm/crash-tables'
  ),
  mutant(
    'a version becomes current before its edit is durable',
    edit('lsm/version/manifest', '  await writer.sync()\n  writer.mark()', '  writer.mark()'),
    'lsm/manifest-install',
    'lsm/manifest-edits',
    'lsm/crash-tables'
  ),
  mutant(
    'sync: true does not sync',
    edit('lsm/engine/write-queue', 'if (group.sync) {', 'if (group.lastSequence < 0) {'),
    'lsm/engine-write',
    'lsm/crash-logs'
  ),
  mutant(
    'a sync leaves out the previous logs',
    edit('lsm/format/log-writer', '[previous?.sync(), syncName?.(), ', '[syncName?.(), '),
    'lsm/log-writer',
    'lsm/crash-logs'
  ),
  mutant(
    'a sync leaves out the name of the log',
    edit('lsm/format/log-writer', '[previous?.sync(), syncName?.(), ', '[previous?.sync(), '),
    'lsm/log-writer',
    'lsm/crash-logs'
  ),
  mutant(
    'writes are acknowledged without a log',
    edit('lsm/engine/write-queue', 'if (!group.isEmpty) this.#host.append(group.record)\n', ''),
    'lsm/engine-write',
    'lsm/crash-logs'
  ),
  mutant(
    'a batch is split over several log records',
    edit(
      'lsm/engine/write-queue',
      '    const group = this.#groupWithRoom(WriteGroup.batchBytes(operations))\n',
      `    if (operations.length > 1) {
      return Promise.all(
        operations.map((one) => {
          const done = this.batch([one], sync)
          this.#groups.at(-1)?.close()
          return done
        })
      ).then(() => undefined)
    }
    const group = this.#groupWithRoom(WriteGroup.batchBytes(operations))
`
    ),
    'lsm/crash-logs',
    'lsm/crash-tables'
  ),
  mutant(
    'edits are installed after a write of the manifest failed',
    edit(
      'lsm/version/version-set',
      "      this.#failure = error\n      throw ioError('Cannot write",
      "      throw ioError('Cannot write"
    ),
    'lsm/manifest-install',
    'lsm/faults-once',
    'lsm/faults-lasting'
  ),
  mutant(
    'logs are written after a write of the log failed',
    [
      edit('lsm/format/log-writer', '    this.#failure ??= error\n', ''),
      edit(
        'lsm/engine/write-queue',
        '      this.fail(error as Error)\n      return false',
        '      group.reject(error as Error)\n      this.#groups.shift()\n      return this.#groups.length > 0'
      )
    ],
    'lsm/log-writer',
    'lsm/engine-failures',
    'lsm/faults-once'
  ),
  mutant(
    'of two processes that create a directory at the same time, the second overwrites the marker of the first',
    edit(
      'lsm/fs/directory',
      "if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rename(temporary, name)",
      'await rename(temporary, name)'
    ),
    'docstore/directory'
  ),
  mutant(
    'with sync: true, a rename is acknowledged before it is durable',
    edit(
      'docstore/store/catalog',
      ']: entry, ...deletions }, this.#sync)\n    this.#entries.delete(from)',
      ']: entry, ...deletions })\n    this.#entries.delete(from)'
    ),
    'docstore/reopen'
  ),
  mutant(
    'collection names that share a key on disk are accepted',
    edit('docstore/store/collection-name', '/\\p{Surrogate}/u.test(name)', 'name.length < 0'),
    'docstore/bad-input'
  ),
  mutant(
    'syncs of a log overlap, and the system tells one of them of a failure',
    edit('lsm/format/log-writer', '    while (this.#syncing !== undefined) await this.#syncing\n', ''),
    'lsm/log-writer'
  ),
  mutant(
    'a flush begins after close() has begun',
    edit('lsm/engine/flushes', 'if (this.#isStopped || this.#isFailing ||', 'if (this.#isFailing ||'),
    'lsm/close-during-flush'
  )
]
