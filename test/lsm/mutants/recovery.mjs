/** Entries are read back as they were written. */
import { edit, mutant } from './mutant.mjs'

export const recovery = [
  mutant(
    'a block with a wrong checksum is accepted',
    edit('lsm/format/codec', 'if (found !== expected) {', 'if (found < 0) {'),
    'lsm/table-damage',
    'lsm/corruption-flips'
  ),
  mutant(
    'a block is accepted at any position',
    edit('lsm/format/checksum', 'return (h ^ (h >>> 15)) >>> 0', 'return (h & 0) >>> 0'),
    'lsm/table-damage',
    'lsm/corruption-flips'
  ),
  mutant(
    'a store with later logs counts as closed',
    edit('lsm/engine/recovery', ' || later.length > 0', ''),
    'lsm/open-as-closed',
    'lsm/crash-logs'
  ),
  mutant(
    'a store with leftovers counts as closed',
    edit('lsm/engine/recovery', ' && obsoleteNames(listing, versions).length === 0', ''),
    'lsm/open-as-closed'
  ),
  mutant(
    'a store with a log that is not empty counts as closed',
    edit('lsm/engine/recovery', 'logName(log))) === 0', 'logName(log))) !== undefined'),
    'lsm/crash-logs'
  ),
  mutant(
    'recovery removes files because of a manifest that may not be durable',
    edit('lsm/engine/recovery', '    await versions.settle()\n', ''),
    'lsm/open-as-closed',
    'lsm/crash-recovery'
  ),
  mutant(
    'a log record with a wrong checksum is accepted',
    edit('lsm/format/log-record', ' && crc32Of(payload, 0, payload.length) === header.payloadCrc', ''),
    'lsm/log-reader',
    'lsm/crash-logs'
  ),
  mutant(
    'records of another log are accepted in a recycled file',
    edit(
      'lsm/format/log-record',
      '  if (readU32(bytes, at + logNumberOffset) !== logNumber >>> 0) return undefined\n',
      ''
    ),
    'lsm/log-reader',
    'lsm/log-recovery',
    'lsm/crash-logs'
  ),
  mutant(
    'a hole between logs is ignored',
    edit(
      'lsm/format/log-recovery',
      `      if (first > due && offset === 0) {
        this.#lostFrom = previousEnd
        return
      }
      if (first !== due) throw`,
      '      if (first < due) throw'
    ),
    'lsm/log-recovery',
    'lsm/crash-logs'
  ),
  mutant(
    'synced offsets within a log are ignored',
    edit('lsm/format/log-reader', 'if (synced > this.#end) {', 'if (synced < 0) {'),
    'lsm/log-reader',
    'lsm/corruption-flips'
  ),
  mutant(
    'synced offsets of later logs are ignored',
    edit('lsm/format/log-recovery', 'if (synced === 0) return', 'if (synced >= 0) return'),
    'lsm/log-recovery',
    'lsm/corruption-flips'
  ),
  mutant(
    'a manifest with a torn tail is appended to',
    [
      edit('lsm/version/version-set', 'if (!contents.isClean) {', 'if (contents.end < 0) {'),
      edit('lsm/version/version-set', 'contents.isClean ? log : undefined', 'log')
    ],
    'lsm/manifest-recovery',
    'lsm/crash-recovery',
    'lsm/crash-tables'
  ),
  mutant(
    'the numbers of existing files are reused',
    edit('lsm/version/version-set', '      versions.#reserveNumbersIn(names)\n', ''),
    'lsm/manifest-recovery',
    'lsm/crash-recovery',
    'lsm/crash-tables'
  ),
  mutant(
    'recovery does not make durable what it has read',
    edit('lsm/version/manifest', '    rewriteInPlace(file, end)\n    await log.sync()\n', ''),
    'lsm/manifest-recovery',
    'lsm/faults-reopened',
    'lsm/crash-recovery'
  ),
  mutant(
    'logs are abandoned before their entries are in tables',
    edit('lsm/engine/recovery', 'await versions.install({ newTables,', 'await versions.install({ newTables: [],'),
    'lsm/engine-write',
    'lsm/crash-recovery'
  ),
  mutant(
    'the lock of a living process is not respected',
    edit('lsm/fs/lock', 'if (isHeld(fileSystem, found)) throw', 'if (found.pid < 0) throw'),
    'lsm/fs-lock'
  ),
  mutant(
    'the lock of a dead process is respected',
    edit('lsm/fs/lock', '  return mayBeAlive(record)\n', '  return mayBeAlive(record) || true\n'),
    'lsm/fs-lock',
    'lsm/kill-rounds'
  ),
  mutant(
    'a directory can be opened twice by one process',
    edit('lsm/fs/lock', "    if (paths.has(place.directory)) throw locked(location, 'this process')\n", ''),
    'lsm/fs-lock'
  ),
  mutant(
    'rows of an incomplete chunk lose its last documents',
    edit(
      'sharded-bloom/segment/hashed-rows',
      'return (Math.ceil(documents / blockDocuments) * blockDocuments) / 8',
      'return Math.max(8, (Math.floor(documents / blockDocuments) * blockDocuments) / 8)'
    ),
    'sharded-bloom/older-format',
    'sharded-bloom/stored-segment'
  ),
  mutant(
    'rows of an incomplete chunk are placed without the gaps between them',
    edit('sharded-bloom/segment/hashed-rows', 'address + row * chunkRowBytes)', 'address + row * rowBytes)'),
    'sharded-bloom/older-format',
    'sharded-bloom/stored-segment'
  )
]
