import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { OpenFile, OpenMode } from '../../src/lsm/fs/file-system.ts'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { closeAll, closeLater, temporaryDirectory } from '../support/temporary-directory.ts'

/** A disk that takes a turn of the event loop, or until `gate` opens, to prepare a read, and records requests. */
class SlowFileSystem extends MemoryFileSystem {
  readonly prepared: string[] = []
  readonly read: string[] = []
  /** Number of reads being prepared. */
  pending = 0
  /** Resolves when reads may be prepared. */
  gate: Promise<void> = Promise.resolve()

  override open(path: string, mode: OpenMode): OpenFile {
    const file = super.open(path, mode)
    const read = file.read.bind(file)
    return Object.assign(file, {
      prepareRead: async (position: number) => {
        this.pending++
        await new Promise(setImmediate)
        await this.gate
        this.pending--
        this.prepared.push(`${path} ${position}`)
      },
      read: (target: Uint8Array, position: number) => {
        if (path.endsWith('.sst')) this.read.push(`${path} ${position}`)
        return read(target, position)
      }
    })
  }

  forget(): void {
    this.prepared.length = 0
    this.read.length = 0
  }
}

const keyOf = (number: number) => Buffer.from(`key${String(number).padStart(9, '0')}`)
const valueFor = (number: number) => Buffer.alloc(300, number % 251)

async function filled(location: string, options: StoreOptions): Promise<LsmLevel<Buffer, Buffer>> {
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = closeLater(new LsmLevel<Buffer, Buffer>(location, { ...options, ...encodings }))
  await db.batch(Array.from({ length: 500 }, (_, i) => ({ type: 'put' as const, key: keyOf(i), value: valueFor(i) })))
  await db.compactRange(keyOf(0), keyOf(500))
  await db.put(keyOf(7), Buffer.from('newer'))
  await db.del(keyOf(8))
  // Opens the table.
  db.getSync(keyOf(499))
  return db
}

test('threaded reads of many keys prepare some at a time', async () => {
  const fileSystem = new SlowFileSystem()
  const db = await filled('/db', { fileSystem, diskReads: 'threaded', cacheSize: 0, blockSize: 1 })
  let open = (): void => {}
  fileSystem.gate = new Promise((resolve) => {
    open = resolve
  })
  const numbers = Array.from({ length: 480 }, (_, i) => 10 + ((i * 7) % 480))
  const values = db.getMany(numbers.map(keyOf))
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  const { pending } = fileSystem
  open()
  assert.equal(await values, numbers.map(valueFor))
  assert.ok(pending > 0 && pending <= 128, `${pending} reads`)
})

test('threaded reads prepare a block before reading it, but none that is cached or not needed', async () => {
  const fileSystem = new SlowFileSystem()
  const db = await filled('/db', { fileSystem, diskReads: 'threaded' })
  fileSystem.forget()
  assert.equal(await db.get(keyOf(100)), valueFor(100))
  assert.equal([fileSystem.prepared.length, fileSystem.read.length], [1, 1])
  assert.equal(fileSystem.prepared, fileSystem.read)
  // In the cache, in the memtable, in no table.
  assert.equal(await db.get(keyOf(100)), valueFor(100))
  assert.equal(await db.get(keyOf(7)), Buffer.from('newer'))
  assert.is(await db.get(keyOf(8)), undefined)
  assert.is(await db.get(Buffer.from('other')), undefined)
  assert.not(await db.has(keyOf(8)))
  assert.is(fileSystem.prepared.length, 1)
  assert.ok(await db.has(keyOf(300)))
  assert.is(fileSystem.prepared.length, 2)
  fileSystem.forget()
  const numbers = [450, 7, 8, 200, 9999, 201, 350]
  const expected = numbers.map((number) => db.getSync(keyOf(number)))
  assert.equal(await db.getMany(numbers.map(keyOf)), expected)
})

test('a threaded read sees the state at its call, whatever is written and merged while it waits', async () => {
  const fileSystem = new SlowFileSystem()
  const db = await filled('/db', { fileSystem, diskReads: 'threaded', cacheSize: 0 })
  await db.flush()
  for (let round = 0; round < 3; round++) {
    let open = () => {}
    fileSystem.gate = new Promise((resolve) => {
      open = resolve
    })
    const one = db.get(keyOf(50))
    const many = db.getMany([keyOf(50), keyOf(7), keyOf(60)])
    const has = db.hasMany([keyOf(50), keyOf(8)])
    await db.batch([
      { type: 'del', key: keyOf(50) },
      { type: 'put', key: keyOf(8), value: Buffer.from('again') }
    ])
    await db.compactRange(keyOf(0), keyOf(500))
    open()
    assert.equal(await one, valueFor(50))
    assert.equal(await many, [valueFor(50), Buffer.from('newer'), valueFor(60)])
    assert.equal(await has, [true, false])
    assert.is(await db.get(keyOf(50)), undefined)
    await db.batch([
      { type: 'put', key: keyOf(50), value: valueFor(50) },
      { type: 'del', key: keyOf(8) }
    ])
    await db.flush()
  }
})

test('threaded reads on a real disk return what getSync() returns, and close() waits for reads under way', async () => {
  const db = await filled(temporaryDirectory(), { diskReads: 'threaded', cacheSize: 0 })
  const keys = Array.from({ length: 510 }, (_, i) => keyOf((i * 7) % 510))
  assert.equal(
    await db.getMany(keys),
    keys.map((key) => db.getSync(key))
  )
  const reads = Promise.all(keys.map((key) => db.get(key)))
  const closed = db.close()
  assert.equal((await reads)[0], valueFor(0))
  await closed
})

test.after(closeAll)
test.run()
