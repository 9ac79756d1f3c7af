/** What a simulated crash of the memory file system may leave, and what it must not lose. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { seededRandom } from '../bloom/random.ts'
import { bytes, get, put } from './file-system-cases.ts'

/** All contents that the file may have after a crash now; undefined if it may not exist. */
function contentsAfterCrash(fileSystem: MemoryFileSystem, path: string): Set<string | undefined> {
  return new Set([...fileSystem.crashStates()].map((state) => get(state, path)))
}

/** A file system with one file whose name and bytes are durable. */
async function durable(path: string, text: string): Promise<MemoryFileSystem> {
  const fileSystem = new MemoryFileSystem()
  put(fileSystem, path, text)
  const file = fileSystem.open(path, 'update')
  file.syncNow()
  file.close()
  await fileSystem.syncDirectory('/')
  return fileSystem
}

test('synced bytes with a synced name survive in every crash state', async () => {
  const fileSystem = await durable('a', 'text')
  assert.equal(contentsAfterCrash(fileSystem, 'a'), new Set(['text']))
  assert.is(get(fileSystem.crashClone({ random: () => 0.99 }), 'a'), 'text')
})

test('unsynced bytes may be lost, kept, torn, or read as zeros', async () => {
  const fileSystem = await durable('a', 'old')
  const file = fileSystem.open('a', 'update')
  file.write(bytes('NEW!!'), 0)
  const contents = contentsAfterCrash(fileSystem, 'a')
  for (const expected of ['old', 'NEW!!', 'Nld', 'NEd', 'NEW!', 'old\0\0']) assert.ok(contents.has(expected), expected)
})

test('a write called after sync() is not covered by it', async () => {
  const fileSystem = await durable('a', '')
  const file = fileSystem.open('a', 'update')
  file.write(bytes('one'), 0)
  const sync = file.sync()
  file.write(bytes('two'), 3)
  assert.ok(contentsAfterCrash(fileSystem, 'a').has(''), 'nothing is durable before the sync ends')
  await sync
  const contents = contentsAfterCrash(fileSystem, 'a')
  assert.ok(contents.has('one'))
  assert.ok(contents.has('onetwo'))
  assert.not.ok(contents.has(''))
})

test('unsynced writes may be reordered: a later one may be kept and an earlier one lost', async () => {
  const fileSystem = await durable('a', '')
  const file = fileSystem.open('a', 'update')
  file.write(bytes('one'), 0)
  file.write(bytes('two'), 3)
  const contents = contentsAfterCrash(fileSystem, 'a')
  for (const expected of ['', 'one', 'onetwo', '\0\0\0two']) assert.ok(contents.has(expected), JSON.stringify(expected))
})

test('a name may be lost until its directory is synced, even if the bytes were synced', async () => {
  const fileSystem = new MemoryFileSystem()
  const file = fileSystem.open('a', 'create')
  file.write(bytes('text'), 0)
  await file.sync()
  assert.equal(contentsAfterCrash(fileSystem, 'a'), new Set([undefined, 'text']))
  await fileSystem.syncDirectory('/')
  assert.equal(contentsAfterCrash(fileSystem, 'a'), new Set(['text']))
})

test('a synced name may survive without its unsynced bytes', async () => {
  const fileSystem = new MemoryFileSystem()
  put(fileSystem, 'a', 'text')
  await fileSystem.syncDirectory('/')
  const contents = contentsAfterCrash(fileSystem, 'a')
  assert.ok(contents.has(''))
  assert.ok(contents.has('\0\0\0\0'))
  assert.ok(contents.has('text'))
})

test('a directory whose parent was not synced may be lost with its files', async () => {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory('db')
  put(fileSystem, 'db/a', '')
  await fileSystem.syncDirectory('db')
  assert.equal(new Set([...fileSystem.crashStates()].map((state) => state.list('/').join())), new Set(['', 'db']))
  await fileSystem.syncDirectory('/')
  for (const state of fileSystem.crashStates()) assert.equal(state.list('db'), ['a'])
})

test('a rename is atomic: after a crash either both files have their old names or the target is replaced', async () => {
  const fileSystem = await durable('b', 'old')
  const file = fileSystem.open('a', 'create')
  file.write(bytes('new'), 0)
  await file.sync()
  await fileSystem.syncDirectory('/')
  fileSystem.rename('a', 'b')
  const states = [...fileSystem.crashStates()].map((state) => `${get(state, 'a')} ${get(state, 'b')}`)
  assert.equal(new Set(states), new Set(['new old', 'undefined new']))
})

test('an unsynced removal may be lost', async () => {
  const fileSystem = await durable('a', 'text')
  fileSystem.remove('a')
  assert.is(get(fileSystem, 'a'), undefined)
  assert.equal(contentsAfterCrash(fileSystem, 'a'), new Set([undefined, 'text']))
  await fileSystem.syncDirectory('/')
  assert.equal(contentsAfterCrash(fileSystem, 'a'), new Set([undefined]))
})

test('changes of names may be reordered: a removal may be kept and an earlier creation lost', async () => {
  const fileSystem = await durable('old', 'text')
  put(fileSystem, 'new', 'text')
  fileSystem.remove('old')
  const names = new Set([...fileSystem.crashStates()].map((state) => state.list('/').sort().join()))
  assert.equal(names, new Set(['old', 'new,old', 'new', '']))
})

test('the truncation by open mode create may be lost, and the writes after it too', async () => {
  const fileSystem = await durable('a', 'long text')
  put(fileSystem, 'a', 'x')
  const contents = contentsAfterCrash(fileSystem, 'a')
  for (const expected of ['long text', '', 'x', 'xong text']) assert.ok(contents.has(expected), expected)
})

test('both names of a linked file denote the same file after a crash', async () => {
  const fileSystem = await durable('a', 'text')
  fileSystem.link('a', 'b')
  await fileSystem.syncDirectory('/')
  const state = fileSystem.crashClone({ random: () => 0 })
  const file = state.open('a', 'update')
  file.write(bytes('T'), 0)
  assert.is(get(state, 'b'), 'Text')
})

test('a long write may be torn at sector boundaries', async () => {
  const fileSystem = await durable('a', '')
  const file = fileSystem.open('a', 'update')
  file.write(bytes('x'.repeat(100)), 0)
  file.write(bytes('y'.repeat(2000)), 100)
  const sizes = new Set([...contentsAfterCrash(fileSystem, 'a')].map((text) => text?.length))
  for (const size of [100, 101, 512, 1024, 1536, 2048, 2099, 2100]) assert.ok(sizes.has(size), String(size))
})

test('a snapshot and its origin are independent', async () => {
  const fileSystem = await durable('a', 'text')
  const file = fileSystem.open('a', 'update')
  file.write(bytes('more'), 4)
  const snapshot = fileSystem.snapshot()
  file.write(bytes('T'), 0)
  put(fileSystem, 'b', '')
  await file.sync()
  assert.is(get(snapshot, 'a'), 'textmore')
  assert.equal(snapshot.list('/'), ['a'])
  assert.ok(contentsAfterCrash(snapshot, 'a').has('text'), 'the sync was of the origin')
  put(snapshot, 'a', 'other')
  assert.is(get(fileSystem, 'a'), 'Textmore')
})

test('changing a buffer after write() does not change what was written', async () => {
  const fileSystem = await durable('a', '')
  const file = fileSystem.open('a', 'update')
  const reused = Buffer.from('text')
  file.write(reused, 0)
  reused.fill('x')
  assert.equal(contentsAfterCrash(fileSystem, 'a').has('text'), true)
  await file.sync()
  assert.equal(contentsAfterCrash(fileSystem, 'a'), new Set(['text']))
})

test('crashStates() reflects the moment of its call', async () => {
  const fileSystem = await durable('a', 'old')
  const states = fileSystem.crashStates()
  const file = fileSystem.open('a', 'update')
  file.write(bytes('new'), 0)
  await file.sync()
  assert.equal(
    [...states].map((state) => get(state, 'a')),
    ['old']
  )
})

test('each crash state describes its origin', async () => {
  const fileSystem = await durable('a', 'old')
  fileSystem.rename('a', 'b')
  fileSystem.remove('b')
  const origins = [...fileSystem.crashStates()].map((state) => state.origin)
  assert.is(new Set(origins).size, origins.length)
  assert.is(origins[0], 'nothing unsynced')
  assert.ok(origins.includes('everything before operation 2 of 2 (remove b)'), origins.join('; '))
})

test('random histories: every crash state has the synced bytes, and no byte that was never written', async () => {
  const { below, next } = seededRandom()
  const random = () => (next() >>> 0) / 2 ** 32
  for (let round = 0; round < 60; round++) {
    const fileSystem = new MemoryFileSystem()
    const file = fileSystem.open('a', 'create')
    await fileSystem.syncDirectory('/')
    const size = 3000
    /** The values that each byte may have after a crash. */
    let possible = Array.from({ length: size }, () => new Set([0]))
    for (let step = 1; step < 12; step++) {
      if (random() < 0.25) {
        await file.sync()
        const now = Buffer.alloc(size)
        file.read(now, 0)
        possible = [...now].map((byte) => new Set([byte]))
        continue
      }
      const start = below(size)
      const end = start + below(size - start)
      file.write(new Uint8Array(end - start).fill(step), start)
      for (let at = start; at < end; at++) possible[at]?.add(step)
    }
    const states = [...fileSystem.crashStates()]
    for (let i = 0; i < 10; i++) states.push(fileSystem.crashClone({ random }))
    for (const state of states) {
      const content = Buffer.alloc(size)
      const reader = state.open('a', 'read')
      reader.read(content, 0)
      content.forEach((byte, at) => {
        if (!possible[at]?.has(byte)) assert.unreachable(`byte ${at} is ${byte} in "${state.origin}"`)
      })
    }
  }
})

test.run()
