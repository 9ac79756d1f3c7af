/** A ThreadView of a shared view yields what a snapshot of the same moment yields. */
import type { AbstractSnapshot } from 'abstract-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Ingest } from '../../src/lsm/engine/ingest.ts'
import type { SharedView } from '../../src/lsm/engine/share-view.ts'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { RangeScan, type ScanOptions } from '../../src/lsm/read/range-scan.ts'
import { ThreadView } from '../../src/lsm/thread-view/thread-view.ts'
import { transferListOf, type ViewData } from '../../src/lsm/thread-view/view-data.ts'
import type { Random } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { playHistories } from '../support/histories.ts'
import { nextTurn } from '../support/lsm-crash-points.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { type Entries, ingestAll, range, tableNames } from './ingest-helpers.ts'

const shared: SharedView[] = []

function shareView(ingest: Ingest, start = '', end = '~'): SharedView {
  const view = ingest.shareView(Buffer.from(start), Buffer.from(end))
  shared.push(view)
  return view
}

test.after.each(async () => {
  // After a failure: the store would wait for them.
  for (const view of shared.splice(0)) view.release()
  await closeAll()
})

const histories = 8
const steps = 60

const keys = ['', '!a!', '!b!'].flatMap((space) => Array.from({ length: 60 }, (_, n) => `${space}k${n + 10}`))
/** Between and around the keys, too. */
const borders = ['', '!', '!a!', '!b!', '!c', 'k', 'k35x', '~', ...keys]

/** As postMessage() would. */
function sent(data: ViewData): ViewData {
  return structuredClone(data, { transfer: transferListOf(data) })
}

const bytes = (text: string | undefined): Buffer | undefined => (text === undefined ? undefined : Buffer.from(text))

interface Bounds {
  readonly gte?: string
  readonly gt?: string
  readonly lt?: string
  readonly lte?: string
  readonly reverse?: boolean
  readonly limit?: number
}

function scanOf(view: ThreadView, bounds: Bounds, reusesMemory = false): RangeScan {
  const { gte, gt, lt, lte, reverse } = bounds
  const options: ScanOptions = { gte: bytes(gte), gt: bytes(gt), lt: bytes(lt), lte: bytes(lte), reverse }
  return new RangeScan(view, options, reusesMemory)
}

function contentOf(view: ThreadView, bounds: Bounds, reusesMemory = false): [string, string][] {
  const scan = scanOf(view, bounds, reusesMemory)
  const found: [string, string][] = []
  const { limit = -1 } = bounds
  while (found.length !== limit && scan.advance()) found.push([scan.keyText(), scan.valueText()])
  scan.close()
  return found
}

class Player {
  readonly #random: Random
  readonly #fileSystem = new MemoryFileSystem()
  readonly #db: LsmLevel<string, string>
  readonly #work: Promise<unknown>[] = []
  #ingest!: Ingest
  #serial = 0
  /** What the shared views had. */
  readonly seen = { views: 0, frozen: 0, runs: 0, deep: 0, ingested: 0, entries: 0 }

  constructor(random: Random, options: StoreOptions) {
    this.#random = random
    this.#db = closeLater(new LsmLevel('/db', { blockSize: 200, ...options, fileSystem: this.#fileSystem }))
  }

  async play(): Promise<void> {
    await this.#db.open()
    this.#ingest = await this.#db.beginIngest()
    for (let step = 0; step < steps; step++) {
      if (this.#random.below(8) === 0) await this.#compare()
      else await this.#change()
    }
    await Promise.all(this.#work)
    await this.#db.close()
  }

  async #change(): Promise<void> {
    const random = this.#random
    const db = this.#db
    const dice = random.below(24)
    if (dice < 14) this.#write()
    else if (dice < 16) this.#work.push(db.flush())
    else if (dice < 18) this.#work.push(db.compactRange('', '~'))
    else if (dice < 20) await this.#ingestNew()
    else if (dice < 21) this.#work.push(db.clear({ gte: this.#border(), lt: this.#border() }))
    else for (let turn = random.below(10); turn > 0; turn--) await nextTurn()
  }

  #write(): void {
    const random = this.#random
    const operations = Array.from({ length: 1 + random.below(20) }, () => {
      const key = keys[random.below(keys.length)]!
      return random.below(4) === 0
        ? ({ type: 'del', key } as const)
        : ({ type: 'put', key, value: this.#value() } as const)
    })
    this.#work.push(this.#db.batch(operations, { sync: random.below(5) === 0 }))
  }

  #value(): string {
    return `value ${++this.#serial} ${'x'.repeat(this.#random.below(100))}`
  }

  /** Keys that were never there before. */
  async #ingestNew(): Promise<void> {
    const random = this.#random
    const key = () => `${keys[random.below(keys.length)]}i${++this.#serial}`
    const lists = [1, 2].map((): Entries => Array.from({ length: 3 }, () => [key(), this.#value()] as const))
    // Clears in progress might delete keys meanwhile.
    await Promise.all(this.#work.splice(0))
    await ingestAll(this.#db, this.#fileSystem, lists)
  }

  #border(): string {
    return borders[this.#random.below(borders.length)]!
  }

  async #compare(): Promise<void> {
    const random = this.#random
    const isWhole = random.below(3) === 0
    const [start, end] = isWhole ? ['', '~'] : ([this.#border(), this.#border()].sort() as [string, string])
    if (random.below(2) === 0) for (let writes = random.below(5); writes > 0; writes--) this.#write()
    if (random.below(2) === 0) await nextTurn()
    const sharing = shareView(this.#ingest, start, end)
    const snapshot = this.#db.snapshot()
    const expected = await this.#db.iterator({ snapshot, gte: start, lt: end }).all()
    this.#note(sharing.data, expected)
    const data = sent(sharing.data)
    for (let changes = random.below(6); changes > 0; changes--) await this.#change()
    const view = await ThreadView.open(data, this.#fileSystem)
    for (let round = 0; round < 4; round++) {
      await this.#compareRange(view, snapshot, start, end)
      for (let changes = random.below(3); changes > 0; changes--) await this.#change()
    }
    assert.equal(contentOf(view, { gte: start, lt: end }, random.below(2) === 0), expected)
    view.close()
    sharing.release()
    await snapshot.close()
  }

  /** Compares a range within the shared one. */
  async #compareRange(view: ThreadView, snapshot: AbstractSnapshot, start: string, end: string): Promise<void> {
    const random = this.#random
    const inside = (): string => {
      const border = this.#border()
      return border < start ? start : border > end ? end : border
    }
    const [from, to] = [inside(), inside()].sort() as [string, string]
    const limit = random.below(2) === 0 ? -1 : random.below(20)
    const direction = { reverse: random.below(2) === 0, limit }
    const bounds = {
      ...(random.below(2) === 0 ? { gte: from } : { gt: from }),
      ...(random.below(2) === 0 || to === end ? { lt: to } : { lte: to }),
      ...direction
    }
    const expected = await this.#db.iterator({ snapshot, ...bounds }).all()
    assert.equal(contentOf(view, bounds, random.below(2) === 0), expected, JSON.stringify(bounds))
    const target = inside()
    const iterator = this.#db.iterator({ snapshot, ...bounds })
    iterator.seek(target)
    const rest = await iterator.all()
    await iterator.close()
    const scan = scanOf(view, bounds)
    // Another scan of the same view does not disturb it.
    const other = scanOf(view, { gte: start, lt: end })
    scan.advance()
    scan.seek(Buffer.from(target))
    for (const [key, value] of rest) {
      other.advance()
      assert.ok(scan.advance())
      assert.equal([scan.keyText(), scan.valueText()], [key, value], `seek ${target} in ${JSON.stringify(bounds)}`)
    }
    if (limit < 0) assert.not.ok(scan.advance())
    scan.close()
    other.close()
  }

  #note({ memtables, runs }: ViewData, expected: Entries): void {
    const { seen } = this
    seen.views++
    seen.entries += expected.length
    if (memtables.length > 1) seen.frozen++
    if (runs.length > 2) seen.runs++
    if (runs.some((run) => run.length > 1)) seen.deep++
    if (expected.some(([key]) => key.includes('i'))) seen.ingested++
  }
}

const settings: Record<string, StoreOptions> = {
  'small tables in many levels': {
    writeBufferSize: 1500,
    maxFileSize: 1000,
    level1Bytes: 4000,
    level0CompactionTrigger: 2
  },
  'many tables in level 0': {
    partitionDepth: 1,
    writeBufferSize: 1000,
    autoCompaction: false,
    level0StopTrigger: 1000
  },
  'everything in one memtable': { writeBufferSize: 1 << 20, compression: false }
}

const seed = testSeed()
for (const [name, options] of Object.entries(settings)) {
  test(`${name}: in any range a view in a thread shows what a snapshot of its moment shows, while the store goes on`, async () => {
    const totals: Record<string, number> = {}
    const playerFor = (random: Random): Player => new Player(random, options)
    await playHistories(histories, seed, playerFor, (player) => {
      for (const [what, count] of Object.entries(player.seen)) totals[what] = (totals[what] ?? 0) + count
    })
    console.log(`${name}: ${JSON.stringify(totals)}`)
    assert.ok(totals.views! > histories && totals.entries! > histories * 20 && totals.ingested! > 0)
  })
}

async function openFilled(options: StoreOptions = {}) {
  const fileSystem = new MemoryFileSystem()
  const db = closeLater(new LsmLevel<string, string>('/db', { autoCompaction: false, ...options, fileSystem }))
  await db.open()
  const fill = (from: number, to: number, value: string) =>
    db.batch(range(from, to, value).map(([key, text]) => ({ type: 'put', key, value: text })))
  await fill(0, 100, 'table')
  await db.flush()
  await fill(50, 150, 'memtable')
  return { db, fileSystem, fill, ingest: await db.beginIngest() }
}

test('the tables of a shared view stay until it is released, and close() waits for that', async () => {
  const { db, fileSystem, ingest } = await openFilled()
  const expected = await db.iterator().all()
  const sharing = shareView(ingest)
  await db.clear()
  await db.compactRange('', '~')
  assert.equal(await db.keys().all(), [])
  const view = await ThreadView.open(sent(sharing.data), fileSystem)
  let isClosed = false
  const closed = db.close().then(() => {
    isClosed = true
  })
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  assert.not.ok(isClosed)
  assert.equal(contentOf(view, {}), expected)
  view.close()
  sharing.release()
  sharing.release()
  await closed
  assert.equal(tableNames(fileSystem), [])
})

test('however many tables a view reads, it opens few at a time, and none stays open', async () => {
  const { db, fileSystem, ingest } = await openFilled()
  for (let n = 1000; n < 1200; n++) {
    await db.put(`k${n}`, 'value')
    await db.flush()
  }
  const counted = new FaultyFileSystem(fileSystem)
  const sharing = shareView(ingest)
  const view = await ThreadView.open(sent(sharing.data), counted)
  for (let round = 0; round < 3; round++) {
    assert.is(contentOf(view, {}).length, 350)
    assert.ok(counted.openFiles.length <= 64, `${counted.openFiles.length} open files`)
    // Abandoned half way.
    const scan = scanOf(view, { gte: 'k1100' })
    assert.ok(scan.advance())
    scan.close()
  }
  view.close()
  assert.equal(counted.openFiles, [])
  sharing.release()
})

test.run()
