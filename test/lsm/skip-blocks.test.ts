/**
 * A scan with skipBlocks() yields the entries of one without, except those in unwanted blocks. It never yields an entry
 * that a skipped one hides, however versions are distributed over tables.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel } from '../../src/lsm/lsm-level.ts'
import type { ByteScan, ByteSpan } from '../../src/lsm/read/byte-scan.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'

const seed = testSeed()

const settings = [
  { writeBufferSize: 1200, blockSize: 100, maxFileSize: 600, level0CompactionTrigger: 2, level1Bytes: 2000 },
  { writeBufferSize: 1200, blockSize: 100, maxFileSize: 600, autoCompaction: false, cacheSize: 1 },
  { writeBufferSize: 1200, blockSize: 100, maxFileSize: 600, autoCompaction: false, compression: false, cacheSize: 1 },
  // Read windows of several blocks; a scan is in more than one window at a time.
  { writeBufferSize: 400, blockSize: 300, compression: false, level0CompactionTrigger: 1, level1Bytes: 1 }
]
const runsOf = [60, 60, 60, 300]
type Setting = (typeof settings)[number]
/** Similar values, of which those with an X are wanted. */
const operation = fc.record({
  key: fc.nat(40).map((number) => `k${String(number).padStart(3, '0')}`),
  value: fc.oneof(
    { weight: 9, arbitrary: fc.nat(99).map((number) => `value ${number} ${'-'.repeat(number)}`) },
    { weight: 1, arbitrary: fc.nat(99).map((number) => `value X ${number}`) },
    { weight: 1, arbitrary: fc.constant(undefined) }
  )
})
const history = fc.record({
  before: fc.array(operation, { minLength: 60, maxLength: 150 }),
  after: fc.array(operation, { minLength: 10, maxLength: 120 }),
  settles: fc.record({ between: fc.boolean(), last: fc.boolean(), merges: fc.boolean() }),
  range: fc.record({ from: fc.nat(45), to: fc.nat(45) })
})

type History = typeof history extends fc.Arbitrary<infer T> ? T : never

const wanted = Buffer.from('X')

function holdsWanted({ bytes, start, entriesEnd }: ByteSpan): boolean {
  return Buffer.from(bytes.subarray(start, entriesEnd)).includes(wanted)
}

function here({ entry }: ByteScan): string {
  const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = entry
  const [key, value] = [keyBytes.subarray(keyStart, keyEnd), valueBytes.subarray(valueStart, valueEnd)]
  return `${Buffer.from(key).toString()}=${Buffer.from(value).toString()}`
}

let passed = 0

/** Compares scans with and without skipBlocks(). @param between is called between steps */
function compare(db: LsmLevel, options: Parameters<LsmLevel['scanBytes']>[0], between = (): void => {}): void {
  const all: string[] = []
  const plain = db.scanBytes(options)
  while (plain.next()) all.push(here(plain))
  const shown: string[] = []
  const scan = db.scanBytes(options)
  for (let isThere = scan.next(); isThere; ) {
    between()
    shown.push(here(scan))
    const { block } = scan.entry
    isThere = block !== undefined && !holdsWanted(block) ? scan.skipBlocks(holdsWanted) : scan.next()
  }
  assert.not(scan.next(), 'the end is the end')
  const rest = new Set(all)
  for (const entry of shown) assert.ok(rest.delete(entry), `${entry} is shown once, and is there`)
  for (const entry of rest) assert.not(entry.includes('X'), `${entry} is wanted, and was passed`)
  assert.equal(shown, [...shown].sort(), 'in order')
  passed += rest.size
  void plain.close()
  void scan.close()
}

/** Plays a history and scans the store. */
async function play(setting: Setting, { before, after, settles, range }: History): Promise<void> {
  const db = new LsmLevel('db', { fileSystem: new MemoryFileSystem(), ...setting })
  await db.open()
  const write = ({ key, value }: { key: string; value: string | undefined }): Promise<void> =>
    value === undefined ? db.del(key) : db.put(key, value)
  for (const each of before) await write(each)
  if (settles.between) await db.flush()
  const snapshot = db.snapshot()
  for (const each of after) await write(each)
  if (settles.last) await db.flush()
  if (settles.merges) await db.compactRange('', 'l')
  const [from, to] = [range.from, range.to].map((number) => Buffer.from(`k${String(number).padStart(3, '0')}`))
  for (const options of [{}, { snapshot }, { gte: from!, lt: to! }, { snapshot, gte: from! }, { reverse: true }]) {
    if ('reverse' in options) {
      const scan = db.scanBytes(options)
      const all = await db.iterator({ reverse: true }).all()
      for (let i = 0; i < all.length; i++)
        assert.ok(
          scan.skipBlocks(() => false),
          'backwards nothing is passed'
        )
      assert.not(scan.skipBlocks(() => false))
      await scan.close()
    } else {
      compare(db, options)
      compare(db, { ...options, fillCache: true })
    }
  }
  await snapshot.close()
  await db.close()
}

test('skipBlocks() skips no wanted entry and reveals no hidden one', async () => {
  for (const [i, setting] of settings.entries()) {
    const property = fc.asyncProperty(history, (each) => play(setting, each))
    await fc.assert(property, { seed, numRuns: runsOf[i]!, includeErrorInReport: true })
  }
  console.log(`seed ${seed}: ${passed} entries passed`)
  assert.ok(passed > 5000)
})

test('skipBlocks() covers long distances in steps, ends after the last block, and throws when closed', async () => {
  const db = new LsmLevel('db', { fileSystem: new MemoryFileSystem() })
  for (let i = 0; i < 2000; i++) await db.put(`k${String(i).padStart(4, '0')}`, 'x'.repeat(500))
  await db.compactRange('', 'l')
  const scan = db.scanBytes({})
  let steps = 0
  for (let isThere = scan.next(); isThere; isThere = scan.skipBlocks(() => false)) steps++
  assert.ok(steps >= 4 && steps < 40, `${steps} steps for a megabyte`)
  await scan.close()
  const closed = db.scanBytes({})
  closed.next()
  await db.close()
  assert.throws(
    () => closed.skipBlocks(() => false),
    (error: { code?: string }) => error.code === 'LEVEL_DATABASE_NOT_OPEN'
  )
})

test('skipBlocks() and next() can alternate through many read windows while other scans read', async () => {
  for (const [round, compression] of [true, false, true, false].entries()) {
    for (const cacheSize of [1, 1 << 20]) {
      const random = randomFrom(seed + 2 * round + (cacheSize > 1 ? 1 : 0))
      const fileSystem = new MemoryFileSystem()
      const db = new LsmLevel('db', { fileSystem, compression, cacheSize, blockSize: 700, writeBufferSize: 1 << 18 })
      const keyOf = (i: number): string => `k${String(i).padStart(5, '0')}`
      // Snapshots keep several versions of a key, which may be in two blocks.
      const snapshots = []
      await db.open()
      for (let i = 0; i < 6000; i++) {
        if (i % 1000 === 999) snapshots.push(db.snapshot())
        // Long stretches with few wanted entries, and short ones with many.
        const isWanted = random() < (i % 500 < 60 ? 0.5 : 0.002)
        const filler = random() < 0.002 ? 70_000 : Math.floor(random() * 150)
        await db.put(keyOf(Math.floor(random() * 2000)), `${isWanted ? 'X' : 'value'} ${i} ${'-'.repeat(filler)}`)
      }
      await db.flush()
      const other = db.scanBytes({})
      const between = (): void => {
        if (random() < 0.2) other.next()
      }
      for (const snapshot of [undefined, ...snapshots]) compare(db, { snapshot }, between)
      for (const snapshot of snapshots) await snapshot.close()
      await other.close()
      await db.close()
    }
  }
})

test('skipBlocks() reports damage in a skipped block, but not damage after the range', async () => {
  const fileSystem = new MemoryFileSystem()
  const options = { fileSystem, compression: false, keyFilterBits: 0 }
  const keyOf = (i: number): Buffer => Buffer.from(`k${String(i).padStart(4, '0')}`)
  const db = new LsmLevel<Buffer, string>('db', { ...options, keyEncoding: 'buffer' })
  for (let i = 0; i < 400; i++) await db.put(keyOf(i), `value ${i} ${'x'.repeat(500)}`)
  await db.compactRange(keyOf(0), keyOf(9999))
  await db.close()
  const table = fileSystem.list('db').find((name) => name.endsWith('.sst'))
  const file = fileSystem.open(`db/${table}`, 'update')
  const bytes = Buffer.alloc(file.size())
  file.read(bytes, 0)
  file.write(Buffer.from('y'), bytes.indexOf('value 200 ') + 20)
  file.close()

  const pass = (lt: Buffer): number => {
    const scan = damaged.scanBytes({ gte: keyOf(10), lt })
    let steps = 0
    try {
      for (let isThere = scan.next(); isThere; isThere = scan.skipBlocks(() => false)) steps++
    } catch (error) {
      assert.not(scan.next(), 'a scan that failed has ended')
      throw error
    } finally {
      void scan.close()
    }
    return steps
  }
  const damaged = new LsmLevel<Buffer, string>('db', { ...options, keyEncoding: 'buffer' })
  await damaged.open()
  const blockEntries = 20
  assert.ok(pass(keyOf(200 - blockEntries)) < 30)
  assert.throws(
    () => pass(keyOf(200 + blockEntries)),
    (error: { code?: string }) => error.code === 'LEVEL_CORRUPTION'
  )
  await damaged.close()
})

test('the marks of a block stay with it in the cache, and belong to its bytes', async () => {
  const db = new LsmLevel('/marks', { fileSystem: new MemoryFileSystem(), blockSize: 300, cacheSize: 1 << 20 })
  const entries = Array.from({ length: 2000 }, (_, i) => ({
    type: 'put' as const,
    key: `k${String(i).padStart(5, '0')}`,
    value: `value ${i} ${'-'.repeat(i % 90)}`
  }))
  await db.batch(entries)
  await db.compactRange('k', 'l')
  /** Marks each block with a checksum. @returns the number of blocks, and of those already marked */
  const mark = async (): Promise<{ blocks: number; known: number }> => {
    let blocks = 0
    let known = 0
    const scan = db.scanBytes({ expectedBytes: 200_000 })
    const test = (block: ByteSpan): boolean => {
      const sum = block.bytes.subarray(block.start, block.entriesEnd).reduce((a, b) => (a * 31 + b) | 0, 1)
      assert.ok(block.marks === 0 || block.marks === sum, 'a mark of other bytes')
      blocks++
      if (block.marks !== 0) known++
      block.marks = sum
      return false
    }
    for (let isThere = scan.next(); isThere; ) isThere = scan.skipBlocks(test)
    await scan.close()
    return { blocks, known }
  }
  await mark()
  const { blocks } = await mark()
  assert.ok(blocks > 100)
  assert.equal(await mark(), { blocks, known: blocks })
  await db.close()
})

test.run()
