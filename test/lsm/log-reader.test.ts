import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LogReader } from '../../src/lsm/format/log-reader.ts'
import { LogWriter } from '../../src/lsm/format/log-writer.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { createLog, recycleLog } from '../../src/lsm/version/log-files.ts'
import { testSeed } from '../support/arbitraries.ts'
import {
  codeOf,
  put,
  readFile,
  readLog,
  recordOf,
  recordOfPut,
  rejectionCode,
  sequencesOf,
  writeFile
} from './log-helpers.ts'

const seed = testSeed()
const path = '000007.wal'

interface Log {
  readonly bytes: Buffer
  /** The end of each record. */
  readonly ends: readonly number[]
}

/** A log of records with one put each, synced after those in `synced`. */
async function logOf(records: number, synced: readonly number[] = [], valueBytes = 10): Promise<Log> {
  const fileSystem = new MemoryFileSystem()
  const writer = new LogWriter(fileSystem.open(path, 'create'), 7)
  const ends: number[] = []
  for (let i = 1; i <= records; i++) {
    writer.append(recordOfPut(i, valueBytes))
    ends.push(writer.bytes)
    if (synced.includes(i)) await writer.sync()
  }
  return { bytes: readFile(fileSystem, path), ends }
}

/** Sequence numbers of the batches in a file of these bytes. */
function read(bytes: Uint8Array, logNumber = 7): number[] {
  const fileSystem = new MemoryFileSystem()
  writeFile(fileSystem, path, bytes)
  return readLog(fileSystem, path, logNumber).flatMap(({ payload }) => sequencesOf(payload))
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1)
}

test('a log truncated at any byte yields the records before the cut', async () => {
  const { bytes, ends } = await logOf(5)
  for (let length = 0; length <= bytes.length; length++) {
    const whole = ends.filter((end) => end <= length).length
    assert.equal(read(bytes.subarray(0, length)), upTo(whole), `${length} bytes`)
    // A crash may leave the file's size without its bytes.
    const zeros = Buffer.concat([bytes.subarray(0, length), Buffer.alloc(100)])
    const found = read(zeros)
    assert.ok(found.length >= whole && found.length <= whole + 1, `${length} bytes and zeros`)
    assert.equal(found, upTo(found.length))
  }
})

test('without a sync, a changed byte ends the log', async () => {
  const { bytes, ends } = await logOf(4)
  for (let at = 0; at < bytes.length; at++) {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 0x40
    assert.equal(read(copy), upTo(ends.filter((end) => end <= at).length), `byte ${at}`)
  }
})

test('a changed byte below the synced offset that a later record states is corruption at its record', async () => {
  const { bytes, ends } = await logOf(5, [2])
  // Record 3 was written after the sync and states its offset; 4 and 5 repeat it.
  for (let at = 0; at < (ends[2] ?? 0) - 34; at++) {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 0x01
    const fileSystem = new MemoryFileSystem()
    writeFile(fileSystem, path, copy)
    try {
      readLog(fileSystem, path, 7)
      assert.ok(at >= (ends[1] ?? 0), `byte ${at} was accepted`)
    } catch (error) {
      const { code, path: where, offset } = error as { code: string; path: string; offset: number }
      assert.equal([code, where], ['LEVEL_CORRUPTION', path])
      assert.is(offset, at < (ends[0] ?? 0) ? 0 : ends[0], `byte ${at}`)
    }
  }
})

test('after a mark, damage to the last synced record is corruption', async () => {
  const fileSystem = new MemoryFileSystem()
  const writer = new LogWriter(fileSystem.open(path, 'create'), 7)
  writer.append(recordOfPut(1))
  const { bytes: end } = writer
  await writer.sync()
  writer.mark()
  const bytes = readFile(fileSystem, path)
  assert.is(bytes.length, end + 24)
  writer.mark()
  assert.is(readFile(fileSystem, path).length, end + 24, 'nothing new to say')
  assert.equal(read(bytes), [1])
  for (let at = 0; at < end; at++) {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 0x80
    assert.is(
      codeOf(() => read(copy)),
      'LEVEL_CORRUPTION',
      `byte ${at}`
    )
  }
})

test('records of an older log in a recycled file are not read', async () => {
  const fileSystem = new MemoryFileSystem()
  const old = createLog(fileSystem, '/', 7)
  for (let i = 1; i <= 9; i++) {
    old.append(recordOfPut(i))
    await old.sync()
  }
  old.close()
  for (const count of [0, 1, 3, 9]) {
    const copy = fileSystem.snapshot()
    const log = await recycleLog(copy, '/', 7, 8)
    // Records of the same size: those of the old log follow immediately.
    for (let i = 1; i <= count; i++) log.append(recordOfPut(i + 100))
    log.close()
    const found = readLog(copy, '/000008.wal', 8).flatMap(({ payload }) => sequencesOf(payload))
    assert.equal(
      found,
      upTo(count).map((i) => i + 100)
    )
  }
})

test('a recycled log never has the name of the old one after a crash', async () => {
  const fileSystem = new MemoryFileSystem()
  const old = createLog(fileSystem, '/', 7)
  old.append(recordOfPut(1))
  await old.sync()
  old.close()
  const log = await recycleLog(fileSystem, '/', 7, 8)
  log.append(recordOfPut(2))
  for (const crashed of fileSystem.crashStates()) assert.equal(crashed.list('/'), ['000008.wal'], crashed.origin)
})

test('records inside a value are not taken for proof of a sync', async () => {
  const { bytes: inner } = await logOf(5, [1, 2, 3, 4])
  const fileSystem = new MemoryFileSystem()
  const writer = new LogWriter(fileSystem.open(path, 'create'), 7)
  writer.append(recordOf({ sequence: 1, operations: [{ key: Buffer.from('backup'), value: inner }] }))
  const bytes = readFile(fileSystem, path)
  bytes[30]! ^= 1
  assert.equal(read(bytes), [])
})

test('records that exceed the read buffer or cross its borders are read', async () => {
  const { bytes } = await logOf(3, [], 2 ** 20 + 5)
  assert.equal(read(bytes), upTo(3))
  const many = await logOf(3000, [], 700)
  assert.equal(read(many.bytes), upTo(3000))
})

test('proof of a sync is found however far after the damage', async () => {
  const { bytes, ends } = await logOf(30, [28], 2 ** 18)
  for (const at of [3, (ends[10] ?? 0) + 3, (ends[26] ?? 0) + 300]) {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 1
    assert.is(
      codeOf(() => read(copy)),
      'LEVEL_CORRUPTION',
      `byte ${at}`
    )
  }
})

test('random bytes are read as an empty log', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (garbage) => assert.equal(read(garbage), [])),
    { seed, numRuns: 500 }
  )
})

test('a reader reports the end of its log, and the size of the file', async () => {
  const { bytes, ends } = await logOf(3)
  const fileSystem = new MemoryFileSystem()
  writeFile(fileSystem, path, Buffer.concat([bytes, Buffer.from('tail')]))
  const reader = new LogReader(fileSystem.open(path, 'read'), 7)
  assert.is([...reader.records()].length, 3)
  assert.equal([reader.end, reader.fileBytes], [ends[2], bytes.length + 4])
})

test('a record of more than a gibibyte is refused, and the log remains usable', () => {
  const fileSystem = new MemoryFileSystem()
  const writer = new LogWriter(fileSystem.open(path, 'create'), 7)
  const huge = { length: 2 ** 30 + 25 } as Uint8Array
  assert.is(
    codeOf(() => writer.append(huge)),
    'LEVEL_NOT_SUPPORTED'
  )
  writer.append(recordOfPut(1))
  assert.is(readLog(fileSystem, path, 7).length, 1)
})

test('syncedOffset covers only syncs that have ended, and what was appended before they began', async () => {
  const fileSystem = new MemoryFileSystem()
  const writer = new LogWriter(fileSystem.open(path, 'create'), 7)
  writer.append(recordOf({ sequence: 1, operations: [put('a', '1')] }))
  const { bytes } = writer
  const sync = writer.sync()
  assert.is(writer.syncedOffset, 0)
  writer.append(recordOfPut(2))
  await sync
  assert.is(writer.syncedOffset, bytes)
  assert.is(await rejectionCode(Promise.all([writer.sync(), writer.sync()])), undefined)
  assert.is(writer.syncedOffset, writer.bytes)
})

test.run()
