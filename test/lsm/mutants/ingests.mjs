/** Either all ingested tables are installed or none, and they change no existing entry. */
import { edit, mutant } from './mutant.mjs'

export const ingests = [
  mutant(
    'tombstones in tables do not prevent an ingest',
    edit('lsm/engine/ingest', 'this.#hasTombstonesIn(old, unknown) ||', 'false ||'),
    'lsm/ingest'
  ),
  mutant(
    'tombstones in the active memtable do not prevent an ingest',
    edit('lsm/engine/ingest', 'buffers.some(({ memtable })', 'buffers.slice(1).some(({ memtable })'),
    'lsm/ingest'
  ),
  mutant(
    'tombstones in memtables that are being flushed do not prevent an ingest',
    edit('lsm/engine/ingest', 'buffers.some(({ memtable })', 'buffers.slice(0, 1).some(({ memtable })'),
    'lsm/ingest'
  ),
  mutant(
    'snapshots see what is ingested later',
    edit(
      'lsm/engine/background',
      'snapshots.holdDuring(() => this.#install({ newTables }))',
      'this.#install({ newTables })'
    ),
    'lsm/ingest'
  ),
  mutant(
    'a snapshot taken during an ingest sees its tables later',
    edit('lsm/engine/snapshots', 'if (this.#edits > 0) snapshot.hold()', ''),
    'lsm/ingest'
  ),
  mutant(
    'writes before an ingest may be lost while it is kept',
    edit('lsm/engine/engine', '      await this.sync()\n      return choose()', '      return choose()'),
    'lsm/ingest-crash'
  ),
  mutant(
    'merges run while levels for ingested tables are chosen',
    edit(
      'lsm/engine/background',
      `return this.#runManual(async () => {
      if (this.#isStopped) throw this.lastError ?? closed()
      const { snapshots, counters } = this.#host`,
      `return Promise.resolve().then(async () => {
      if (this.#isStopped) throw this.lastError ?? closed()
      const { snapshots, counters } = this.#host`
    ),
    'lsm/ingest-model'
  ),
  mutant(
    'an ingested table goes to a level where it overlaps another one',
    edit('lsm/ingest/ingest-levels', '.length === 0', '.length >= 0'),
    'lsm/ingest'
  ),
  mutant(
    'tables of one ingest may overlap below level 0',
    edit('lsm/ingest/ingest-levels', 'if (last !== undefined && overlaps(last, table)) return false', ''),
    'lsm/ingest'
  ),
  mutant(
    'ingested entries get the last sequence number instead of 0',
    edit('lsm/engine/ingest', 'sequence: 0,', 'sequence: engine.versions.lastSequence,'),
    'lsm/ingest'
  ),
  mutant(
    'two flushes of an ingest write to the same files',
    edit('lsm/ingest/ingest-tables', 'this.#firstNumber += tables', ''),
    'lsm/ingest'
  ),
  mutant(
    'memory of an ingest is reused while it is read',
    edit(
      'lsm/ingest/ingest-tables',
      'this.#begin()\n      this.#writing',
      'this.#begin()\n      arena.release()\n      this.#writing'
    ),
    'lsm/ingest'
  ),
  mutant(
    'a lookup finds only one of several entries with the same sequence number',
    edit('lsm/value/hits', '    else equals.push(hit)\n', ''),
    'lsm/ingest'
  )
]
