import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LogWriter } from '../../src/lsm/format/log-writer.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { del, operationsOf, put, readFile, readLog, recordOf } from './log-helpers.ts'

/** Bytes as in users' files: a change needs a new format version. Headers and payloads have lines of their own. */
const golden = `
  530b828d150000000c0000000000000000000000a90d4c45
  050000000000000002000000 0101610131 00026263
  7b59ee27a20000000c0000002d0000000000000091bc662b
  070000000000000001000000 01008201
  78787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878
  78787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878
  7878787878787878787878787878787878787878787878787878
  080000000000000001000000 01016b00
  00000000000000000c000000e700000000000000d6ec7b26
`.replaceAll(/\s/g, '')

test('the bytes of a log are pinned', async () => {
  const fileSystem = new MemoryFileSystem()
  const log = new LogWriter(fileSystem.open('000012.wal', 'create'), 12)
  log.append(recordOf({ sequence: 5, operations: [put('a', '1'), del('bc')] }))
  await log.sync()
  log.append(
    recordOf({ sequence: 7, operations: [put('', 'x'.repeat(130))] }, { sequence: 8, operations: [put('k', '')] })
  )
  await log.sync()
  log.mark()
  const bytes = readFile(fileSystem, '000012.wal')
  assert.is(bytes.toString('hex'), golden)
  assert.is(bytes.length, log.bytes)
})

test('a log of the pinned bytes is read', () => {
  const fileSystem = new MemoryFileSystem()
  const file = fileSystem.open('old.wal', 'create')
  file.write(Buffer.from(golden, 'hex'), 0)
  const operations = readLog(fileSystem, 'old.wal', 12).flatMap(({ payload }) => operationsOf(payload))
  const shown = operations.map(({ sequence, key, value }) => [
    sequence,
    `${Buffer.from(key)}`,
    value && `${Buffer.from(value)}`
  ])
  assert.equal(shown, [
    [5, 'a', '1'],
    [6, 'bc', undefined],
    [7, '', 'x'.repeat(130)],
    [8, 'k', '']
  ])
})

test.run()
