/** Tables that are taken in are all there or none, and change nothing that was there. */
import { edit, mutant } from './mutant.mjs'

export const ingests = [
  mutant(
    'tables with tombstones are not asked',
    edit('lsm/engine/ingest', 'hasTombstonesIn(version, old) ||', 'false ||'),
    'lsm/ingest'
  ),
  mutant(
    'memtables with tombstones are not asked',
    edit('lsm/engine/ingest', 'buffers.some(({ memtable })', 'buffers.slice(1).some(({ memtable })'),
    'lsm/ingest'
  ),
  mutant(
    'memtables that are being written out are not asked',
    edit('lsm/engine/ingest', 'buffers.some(({ memtable })', 'buffers.slice(0, 1).some(({ memtable })'),
    'lsm/ingest'
  ),
  mutant(
    'snapshots see what is ingested later',
    edit(
      'lsm/engine/background',
      'snapshots.throughEdit(() => this.#install({ newTables }))',
      'this.#install({ newTables })'
    ),
    'lsm/ingest'
  ),
  mutant(
    'a snapshot that is taken while tables are taken in sees them later',
    edit('lsm/engine/snapshots', 'if (this.#edits > 0) snapshot.hold()', ''),
    'lsm/ingest'
  ),
  mutant(
    'writes before an ingest are less durable than it',
    edit('lsm/engine/engine', '      await this.sync()\n      return choose()', '      return choose()'),
    'lsm/ingest-crash'
  ),
  mutant(
    'merges go on while tables are placed',
    edit(
      'lsm/engine/background',
      `return this.#whileNothingMerges(async () => {
      if (this.#isStopped) throw this.lastError ?? closed()
      const { snapshots, counters } = this.#host`,
      `return Promise.resolve().then(async () => {
      if (this.#isStopped) throw this.lastError ?? closed()
      const { snapshots, counters } = this.#host`
    ),
    'lsm/ingest-model'
  ),
  mutant(
    'an ingested table goes where another one is',
    edit('lsm/ingest/ingest-levels', '.length === 0', '.length >= 0'),
    'lsm/ingest'
  ),
  mutant(
    'tables of one ingest may overlap below level 0',
    edit('lsm/ingest/ingest-levels', 'if (last !== undefined && overlaps(last, table)) return false', ''),
    'lsm/ingest'
  ),
  mutant(
    'ingested tables stand where the newest of their time do',
    edit('lsm/engine/ingest', 'sequence: 0,', 'sequence: engine.versions.lastSequence,'),
    'lsm/ingest'
  ),
  mutant(
    'two flushes of an ingest write to the same files',
    edit('lsm/ingest/ingest-tables', 'this.#firstNumber += tables', ''),
    'lsm/ingest'
  ),
  mutant(
    'memory of an ingest is used again while it is read',
    edit(
      'lsm/ingest/ingest-tables',
      'this.#begin()\n      this.#writing',
      'this.#begin()\n      arena.release()\n      this.#writing'
    ),
    'lsm/ingest'
  ),
  mutant(
    'of entries with one sequence number a lookup finds one',
    edit('lsm/value/hits', '    else equals.push(hit)\n', ''),
    'lsm/ingest'
  )
]
