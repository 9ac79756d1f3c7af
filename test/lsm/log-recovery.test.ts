import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LogRecovery } from '../../src/lsm/format/log-recovery.ts'
import type { LogWriter } from '../../src/lsm/format/log-writer.ts'
import { logName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { createLog, recycleLog } from '../../src/lsm/version/log-files.ts'
import { createRandom } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { codeOf, readFile, recordOf, recordOfPut, sequencesOf, writeFile } from './log-helpers.ts'

const directory = '/db'
const generator = createRandom(testSeed())
const random = (): number => generator.below(2 ** 32) / 2 ** 32

function newFileSystem(): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(directory)
  return fileSystem
}

function pathOf(log: number): string {
  return `${directory}/${logName(log)}`
}

function recover(fileSystem: FileSystem, logNumber = 0, lastSequence = 0): { found: number[]; recovery: LogRecovery } {
  const recovery = new LogRecovery(fileSystem, directory, { logNumber, lastSequence })
  const found = [...recovery.records()].flatMap(({ payload }) => sequencesOf(payload))
  return { found, recovery }
}

/** Logs 3, 5 and 9 with two records of one put each: sequences 1 to 6. */
async function threeLogs({ syncedLog = 0 } = {}): Promise<{ fileSystem: MemoryFileSystem; ends: Map<number, number> }> {
  const fileSystem = newFileSystem()
  const ends = new Map<number, number>()
  let previous: LogWriter | undefined
  let sequence = 1
  for (const number of [3, 5, 9]) {
    const log = createLog(fileSystem, directory, number, previous)
    log.append(recordOfPut(sequence++))
    ends.set(number, log.bytes)
    if (number === syncedLog) await log.sync()
    log.append(recordOfPut(sequence++))
    previous = log
  }
  return { fileSystem, ends }
}

/** Damages the second record of a log. */
function damage(fileSystem: FileSystem, log: number, ends: ReadonlyMap<number, number>): void {
  const bytes = readFile(fileSystem, pathOf(log))
  bytes[(ends.get(log) ?? 0) + 30]! ^= 1
  writeFile(fileSystem, pathOf(log), bytes)
}

test('recovery yields all batches of all logs in order', async () => {
  const { fileSystem } = await threeLogs()
  const { found, recovery } = recover(fileSystem)
  assert.equal(found, [1, 2, 3, 4, 5, 6])
  assert.is(recovery.lastSequence, 6)
  assert.equal(recovery.logNumbers, [3, 5, 9])
  assert.is(recovery.lostFrom, undefined)
  assert.equal(recover(fileSystem).found, [1, 2, 3, 4, 5, 6], 'reading changes nothing')
})

test('logs older than the one named by the manifest are not read', async () => {
  const { fileSystem } = await threeLogs()
  assert.equal(recover(fileSystem, 5, 2).found, [3, 4, 5, 6])
})

test('batches after a hole are dropped, also those in later logs', async () => {
  for (const [log, expected] of [
    [3, [1]],
    [5, [1, 2, 3]],
    [9, [1, 2, 3, 4, 5]]
  ] as const) {
    const { fileSystem, ends } = await threeLogs()
    damage(fileSystem, log, ends)
    const { found, recovery } = recover(fileSystem)
    assert.equal(found, expected)
    assert.equal(recovery.lostFrom, log === 9 ? undefined : { path: pathOf(log), offset: ends.get(log) })
    assert.equal(recovery.logNumbers, [3, 5, 9], 'the caller has to leave all of them behind')
  }
})

test('a log truncated between two records is detected by the sequence numbers of the next log', async () => {
  const { fileSystem, ends } = await threeLogs()
  writeFile(fileSystem, pathOf(3), readFile(fileSystem, pathOf(3)).subarray(0, ends.get(3)))
  assert.equal(recover(fileSystem).found, [1])
})

test('a log that lost all its records, or is missing, is a hole too', async () => {
  const { fileSystem } = await threeLogs()
  writeFile(fileSystem, pathOf(5), Buffer.alloc(100))
  assert.equal(recover(fileSystem).found, [1, 2])
  fileSystem.remove(pathOf(5))
  assert.equal(recover(fileSystem).found, [1, 2])
  // Also if it is the first: the manifest knows the sequence number that the log begins with.
  writeFile(fileSystem, pathOf(3), Buffer.alloc(0))
  assert.equal(recover(fileSystem, 3, 0).found, [])
})

test('garbage after the last record of a log is not a hole', async () => {
  const { fileSystem } = await threeLogs()
  for (const log of [3, 5, 9]) {
    writeFile(fileSystem, pathOf(log), Buffer.concat([readFile(fileSystem, pathOf(log)), Buffer.alloc(77, 'x')]))
  }
  assert.equal(recover(fileSystem).found, [1, 2, 3, 4, 5, 6])
})

test('a hole before a log that is known to be synced is corruption', async () => {
  for (const [syncedLog, damaged, isCorrupt] of [
    [5, 3, true],
    [9, 3, true],
    [9, 5, true],
    [3, 3, false],
    [3, 5, false],
    [5, 9, false]
  ] as const) {
    const { fileSystem, ends } = await threeLogs({ syncedLog })
    damage(fileSystem, damaged, ends)
    const code = codeOf(() => recover(fileSystem))
    assert.is(code, isCorrupt ? 'LEVEL_CORRUPTION' : undefined, `synced ${syncedLog}, damaged ${damaged}`)
  }
})

test('it is corruption if the log named by the manifest does not exist', async () => {
  const { fileSystem } = await threeLogs()
  assert.is(
    codeOf(() => recover(fileSystem, 4, 2)),
    'LEVEL_CORRUPTION'
  )
  fileSystem.remove(pathOf(3))
  assert.is(
    codeOf(() => recover(fileSystem, 3, 0)),
    'LEVEL_CORRUPTION'
  )
})

test('repeated batches, and batches missing within a log, are corruption', async () => {
  const { fileSystem } = await threeLogs()
  assert.is(
    codeOf(() => recover(fileSystem, 3, 1)),
    'LEVEL_CORRUPTION'
  )
  const log = createLog(fileSystem, directory, 12)
  log.append(recordOfPut(7))
  log.append(recordOfPut(9))
  assert.is(
    codeOf(() => recover(fileSystem)),
    'LEVEL_CORRUPTION'
  )
})

/**
 * Writes batches of three operations into four logs, with a sync now and then; one log is recycled if `canRecycle`.
 * @param progress updated with the last sequence number passed to a log, and the last one synced
 */
async function writeTrace(
  fileSystem: FileSystem,
  progress: { written: number; synced: number },
  canRecycle: boolean
): Promise<void> {
  fileSystem.makeDirectory(directory)
  await fileSystem.syncDirectory('/')
  if (canRecycle) {
    const old = createLog(fileSystem, directory, 1)
    for (let i = 0; i < 8; i++) old.append(recordOfPut(1000 + i, 30))
    await old.sync()
    old.close()
  }
  let previous: LogWriter | undefined
  for (const number of [2, 3, 4, 5]) {
    const isRecycled = canRecycle && number === 4
    const log = isRecycled
      ? await recycleLog(fileSystem, directory, 1, number)
      : createLog(fileSystem, directory, number, previous)
    log.setPrevious(previous)
    for (let i = 0; i < 3; i++) {
      const first = progress.written + 1
      const operations = [0, 1, 2].map((j) => ({ key: Buffer.from(`k${first + j}`), value: Buffer.alloc(40 * j) }))
      progress.written += operations.length
      log.append(recordOf({ sequence: first, operations }))
      if ((number + i) % 4 === 3) {
        const { written } = progress
        await log.sync()
        progress.synced = written
      }
    }
    previous = log
  }
}

for (const canRecycle of [false, true]) {
  const how = canRecycle ? 'recycled' : 'new'
  test(`after any crash, recovery from ${how} logs yields a prefix of whole batches with everything synced`, async () => {
    const memory = new MemoryFileSystem()
    const progress = { written: 0, synced: 0 }
    let states = 0
    const check = (crashed: MemoryFileSystem, synced: number, written: number): void => {
      states++
      const names = crashed.list('/')
      if (!names.includes('db')) {
        assert.is(synced, 0)
        return
      }
      const { found, recovery } = recover(crashed, canRecycle ? 2 : 0)
      assert.equal(
        found,
        Array.from({ length: found.length }, (_, i) => i + 1),
        crashed.origin
      )
      assert.is(recovery.lastSequence, found.length)
      assert.is(found.length % 3, 0, crashed.origin)
      assert.ok(
        found.length >= synced && found.length <= written,
        `${crashed.origin}: ${found.length}, ${synced} synced`
      )
    }
    const crash = (): void => {
      // A log's name is durable before a manifest names it.
      const isOpen = (state: MemoryFileSystem) => !canRecycle || state.size(pathOf(2)) !== undefined
      const clones = Array.from({ length: 20 }, () => memory.crashClone({ random }))
      for (const state of [...memory.crashStates(), ...clones].filter(isOpen)) {
        check(state, progress.synced, progress.written)
      }
    }
    await writeTrace(new FaultyFileSystem(memory, { before: crash, after: crash }), progress, canRecycle)
    assert.is(progress.written, 36)
    assert.ok(states > 2000, `${states} states`)
    console.log(`${states} crash states`)
  })
}

test.run()
