import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { closeAll, closeLater, temporaryDirectory } from '../support/temporary-directory.ts'

/** A store whose file system calls are recorded. */
async function traced() {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem(), { isTraced: true })
  const db = closeLater(
    new LsmLevel<Buffer, Buffer>('/db', { fileSystem, keyEncoding: 'buffer', valueEncoding: 'buffer' })
  )
  await db.open()
  const logCalls = (operation: string) =>
    fileSystem.trace.filter((call) => call.operation === operation && call.path.endsWith('.wal')).length
  return { db, logCalls }
}

const bytes = (text: string) => Buffer.from(text)

test('written entries are read back, before and after a reopen', async () => {
  const location = temporaryDirectory()
  const db = new LsmLevel<string, string>(location)
  await db.put('a', '1')
  await db.batch([
    { type: 'put', key: 'b', value: '2' },
    { type: 'del', key: 'a' },
    { type: 'put', key: 'c', value: '3' }
  ])
  const expected = [
    ['b', '2'],
    ['c', '3']
  ]
  assert.equal(await db.iterator().all(), expected)
  await db.close()
  const again = new LsmLevel<string, string>(location)
  assert.equal(await again.iterator().all(), expected)
  assert.is(await again.get('a'), undefined)
  await again.close()
})

test('writes called in the same turn share one write of the log', async () => {
  const { db, logCalls } = await traced()
  const before = logCalls('write')
  await Promise.all(Array.from({ length: 100 }, (_, i) => db.put(bytes(`k${i}`), bytes('v'))))
  assert.is(logCalls('write') - before, 1)
  assert.is((await db.keys().all()).length, 100)
})

test('writes with sync called in the same turn share one sync of the log', async () => {
  const { db, logCalls } = await traced()
  const before = logCalls('sync')
  await Promise.all(Array.from({ length: 64 }, (_, i) => db.put(bytes(`k${i}`), bytes('v'), { sync: true })))
  assert.is(logCalls('sync') - before, 1)
})

test('a write without sync does not sync the log', async () => {
  const { db, logCalls } = await traced()
  await db.put(bytes('k'), bytes('v'))
  assert.is(logCalls('sync'), 0)
})

test('a write is not visible until the sync that it waits for has ended', async () => {
  const { db } = await traced()
  const order: string[] = []
  const synced = db.put(bytes('k'), bytes('new'), { sync: true }).then(() => order.push('synced'))
  const later = db.put(bytes('later'), bytes('v')).then(() => order.push('later'))
  await undefined
  assert.is(db.getSync(bytes('k')), undefined)
  await Promise.all([synced, later])
  assert.equal(order, ['synced', 'later'])
  assert.equal(db.getSync(bytes('k')), bytes('new'))
})

test('the caller may reuse its buffers as soon as put() is called', async () => {
  const { db } = await traced()
  const [key, value] = [bytes('key'), bytes('value')]
  const written = db.put(key, value)
  key.fill('x')
  value.fill('x')
  await written
  assert.equal(await db.get(bytes('key')), bytes('value'))
  assert.is(await db.get(key), undefined)
})

test('changing a value that was read does not change later reads', async () => {
  const { db } = await traced()
  await db.put(bytes('k'), bytes('value'))
  for (const flush of [false, true]) {
    if (flush) await db.flush()
    for (const read of [() => db.get(bytes('k')), async () => (await db.iterator({ limit: 1 }).all())[0]?.[1]]) {
      const first = await read()
      assert.equal(first, bytes('value'))
      first?.fill(0)
      assert.equal(await read(), bytes('value'))
    }
  }
})

test('keys and values may be empty or large', async () => {
  const { db } = await traced()
  const large = Buffer.alloc(3_000_000, 'abc')
  await db.batch([
    { type: 'put', key: bytes(''), value: bytes('') },
    { type: 'put', key: large.subarray(0, 100_000), value: large }
  ])
  for (const flush of [false, true]) {
    if (flush) await db.flush()
    assert.equal(await db.get(bytes('')), bytes(''))
    assert.ok(large.equals((await db.get(large.subarray(0, 100_000))) ?? bytes('')))
  }
})

test('readInto() copies a value into the caller’s buffer, from memtables and from tables', async () => {
  const { db } = await traced()
  const value = Buffer.alloc(100_000, 'xyz')
  await db.put(bytes('large'), value)
  await db.put(bytes('gone'), value)
  await db.del(bytes('gone'))
  for (const flush of [false, true]) {
    if (flush) await db.flush()
    const target = new Uint8Array(value.length + 1)
    assert.is(db.readInto(bytes('large'), target), value.length)
    assert.ok(value.equals(target.subarray(0, value.length)))
    assert.is(db.readInto(bytes('large'), new Uint8Array(10)), value.length)
    assert.is(db.readInto(bytes('gone'), target), undefined)
    assert.is(db.readInto(bytes('absent'), target), undefined)
  }
})

test('a loop of awaited writes and reads does not block the event loop', async () => {
  const { db } = await traced()
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const end = cpuMilliseconds() + 100
  for (let i = 0; cpuMilliseconds() < end; i++) {
    await db.put(bytes(`k${i % 100}`), bytes('v'))
    await db.get(bytes('k1'))
  }
  clearInterval(timer)
  assert.ok(turns >= 5, `${turns} turns in 100 ms of the processor`)
})

test.after(closeAll)
test.run()
