/**
 * A directory is frozen at one moment while a store is written to in it: the calls that the store made are repeated,
 * some before each call of the reader, and between any two parts of what it reads.
 */
import { crc32 } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { logName } from '../../src/lsm/fs/file-names.ts'
import type { FileSystem, OpenFile, OpenMode } from '../../src/lsm/fs/file-system.ts'
import { freeze } from '../../src/lsm/fs/frozen-directory.ts'
import { openReadOnly } from '../../src/lsm/fs/read-only.ts'
import { MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { numbersBelow } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'
import { smallOptions, valueOptions } from './tools-content.ts'
import { location, openLevel, rejection } from './tools-stores.ts'

const seed = seedOfRun()

/** Something that a store did: a change of its files, or the begin or end of a write of its user. */
type Event =
  | { readonly apply: (replayed: FileSystem, files: OpenFile[]) => void }
  | { readonly submitted: number }
  | { readonly acknowledged: number }

/** Records the calls that change something, so that they can be repeated on another file system. */
class Recorder implements FileSystem {
  readonly isShared = false
  readonly events: Event[] = []
  readonly #inner = new MemoryFileSystem()
  #opened = 0

  open(path: string, mode: OpenMode): OpenFile {
    const file = this.#inner.open(path, mode)
    if (mode === 'read') return file
    const at = this.#opened++
    this.#note((replayed, files) => {
      files[at] = replayed.open(path, mode)
    })
    return {
      path,
      read: (target, position) => file.read(target, position),
      prepareRead: (position, bytes) => file.prepareRead(position, bytes),
      write: (bytes, position) => {
        file.write(bytes, position)
        const written = Uint8Array.from(bytes)
        this.#note((_, files) => files[at]!.write(written, position))
      },
      size: () => file.size(),
      isAt: (path) => file.isAt(path),
      truncate: (bytes) => {
        file.truncate(bytes)
        this.#note((_, files) => files[at]!.truncate(bytes))
      },
      sync: () => file.sync(),
      syncNow: () => file.syncNow(),
      close: () => file.close()
    }
  }

  list(directory: string): string[] {
    return this.#inner.list(directory)
  }

  makeDirectory(path: string): void {
    this.#inner.makeDirectory(path)
    this.#note((replayed) => replayed.makeDirectory(path))
  }

  removeDirectory(path: string): void {
    this.#inner.removeDirectory(path)
  }

  size(path: string): number | undefined {
    return this.#inner.size(path)
  }

  rename(from: string, to: string): void {
    this.#inner.rename(from, to)
    this.#note((replayed) => replayed.rename(from, to))
  }

  link(from: string, to: string): void {
    this.#inner.link(from, to)
    this.#note((replayed) => replayed.link(from, to))
  }

  remove(path: string): void {
    this.#inner.remove(path)
    this.#note((replayed) => replayed.remove(path))
  }

  async removeLater(path: string): Promise<void> {
    this.remove(path)
  }

  syncDirectory(path: string): Promise<void> {
    return this.#inner.syncDirectory(path)
  }

  realPath(path: string): string {
    return this.#inner.realPath(path)
  }

  #note(apply: (replayed: FileSystem, files: OpenFile[]) => void): void {
    this.events.push({ apply })
  }
}

/** Repeats recorded events, as many as `advance` says before each call and between the parts of what is read. */
class Replay {
  readonly fileSystem = new MemoryFileSystem()
  submitted = 0
  acknowledged = 0
  readonly #events: readonly Event[]
  readonly #files: OpenFile[] = []
  readonly #advance: () => number
  #at = 0
  #lists = 0

  constructor(events: readonly Event[], advance: () => number) {
    this.#events = events
    this.#advance = advance
  }

  run(count: number): void {
    for (const end = Math.min(this.#events.length, this.#at + count); this.#at < end; this.#at++) {
      const event = this.#events[this.#at]!
      if ('apply' in event) event.apply(this.fileSystem, this.#files)
      else Object.assign(this, event)
    }
  }

  /** Of a name, different for each list. */
  #hash(name: string): number {
    return crc32(`${this.#lists} ${name}`)
  }

  /** The file system as a reader sees it. */
  reader(): FileSystem {
    const step = () => this.run(this.#advance())
    const lower = this.fileSystem
    const before = <R>(call: () => R): R => {
      step()
      return call()
    }
    const open = (path: string, mode: OpenMode): OpenFile => {
      const file = before(() => lower.open(path, mode))
      // What is written while a call reads may be seen in one part of its result and not in another.
      const read = (target: Uint8Array, position: number): number => {
        let done = 0
        for (const part = 1 + Math.floor(target.length / 8); done < target.length; ) {
          step()
          const count = file.read(target.subarray(done, done + part), position + done)
          if (count === 0) break
          done += count
        }
        return done
      }
      // A reader makes no other calls.
      return { path, read, size: () => before(() => file.size()), close: () => file.close() } as OpenFile
    }
    // What appears or disappears while a directory is listed may be in the list or not, each name for itself.
    const list = (directory: string): string[] => {
      const first = before(() => lower.list(directory))
      const second = before(() => lower.list(directory))
      const isEarly = (name: string): boolean => this.#hash(name) % 2 === 0
      this.#lists++
      return [...first.filter(isEarly), ...second.filter((name) => !isEarly(name))]
    }
    const size = (path: string): number | undefined => before(() => lower.size(path))
    return { isShared: false, open, list, size, realPath: (path: string) => lower.realPath(path) } as FileSystem
  }
}

const keys = Array.from({ length: 40 }, (_, i) => `!${i % 2 === 0 ? 'a' : 'b'}!key${i}`)

/** What batch `n` writes; every batch writes its number. */
function batchOf(n: number): readonly (readonly [key: string, value: string | undefined])[] {
  const below = numbersBelow(seed * 1000 + n)
  const others = Array.from({ length: 1 + below(4) }, () => {
    const text = 'abcdefgh'.repeat(below(10) === 0 ? 100 : below(8))
    const value = below(4) === 0 ? undefined : JSON.stringify({ n, color: 'red', text })
    return [keys[below(keys.length)]!, value] as const
  })
  return [['batch', String(n)], ...others]
}

async function recordedHistory(options: StoreOptions, batches: number): Promise<readonly Event[]> {
  const recorder = new Recorder()
  const below = numbersBelow(seed)
  let db = await openLevel(recorder, options)
  const pending = new Set<Promise<void>>()
  for (let n = 1; n <= batches; n++) {
    recorder.events.push({ submitted: n })
    const operations = batchOf(n).map(([key, value]) =>
      value === undefined ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const)
    )
    const written = db.batch(operations, { sync: below(3) === 0 } as object).then(() => {
      recorder.events.push({ acknowledged: n })
      pending.delete(written)
    })
    pending.add(written)
    if (below(3) > 0) await written
    if (below(40) === 0) await db.compactRange('', '~')
    if (below(60) === 0) {
      await Promise.all(pending)
      await db.close()
      db = await openLevel(recorder, options)
    }
  }
  await Promise.all(pending)
  await db.close()
  return recorder.events
}

/** The state after every number of batches. */
function statesOf(batches: number): ReadonlyMap<string, string>[] {
  const states: ReadonlyMap<string, string>[] = [new Map()]
  for (let n = 1; n <= batches; n++) {
    const state = new Map(states[n - 1])
    for (const [key, value] of batchOf(n)) {
      if (value === undefined) state.delete(key)
      else state.set(key, value)
    }
    states.push(state)
  }
  return states
}

const batches = 150
const optionSets: Readonly<Record<string, StoreOptions>> = {
  'logs of a few batches': { ...smallOptions, writeBufferSize: 600 },
  'logs of many batches': { ...smallOptions, writeBufferSize: 20_000 },
  'partitions, value filters beside the tables': {
    ...valueOptions,
    writeBufferSize: 1500,
    partitionDepth: 1,
    values: { ...valueOptions.values!, placement: 'side-file' }
  }
}

for (const [name, options] of Object.entries(optionSets)) {
  test(`what is frozen is the state after some batch, and after each that was acknowledged before: ${name}`, async () => {
    const events = await recordedHistory(options, batches)
    const states = statesOf(batches)
    const below = numbersBelow(seed + 1)
    const seen = new Set<number>()
    let whileWriting = 0
    for (let round = 0; round < 150; round++) {
      const busy = [3, 20, 200][round % 3]!
      const replay = new Replay(events, () => (below(busy) === 0 ? 1 + below(12) : 0))
      // Whatever precedes the first CURRENT is no database yet.
      replay.run(20 + below(0.9 * events.length))
      const { acknowledged } = replay
      const directory = await openReadOnly(replay.reader(), location)
      const { submitted } = replay
      if (submitted < batches) whileWriting++
      const db = await openLevel(directory.fileSystem, { ...options, autoCompaction: false })
      directory.onOpen()
      const content = new Map(await db.iterator().all())
      const n = Number(content.get('batch') ?? 0)
      assert.ok(n >= acknowledged && n <= submitted, `round ${round}: batch ${n}, not ${acknowledged} to ${submitted}`)
      assert.equal(content, states[n], `round ${round}: batch ${n}`)
      assert.equal((await db.verify()).problems, [], `round ${round}`)
      await db.close()
      directory.release()
      seen.add(n)
    }
    assert.ok(seen.size > 20 && whileWriting > 40, `${seen.size} states, ${whileWriting} while writing`)
  })
}

test('logs that are written to are frozen without a hole, and none without all of those before it', async () => {
  const below = numbersBelow(seed + 2)
  const names = [5, 6, 7].map((number) => `${location}/${logName(number)}`)
  const bytes = 400
  let torn = 0
  for (let round = 0; round < 300; round++) {
    // As recycled logs: their size shows nothing, and zeros stand for what they held before.
    const events: Event[] = [{ apply: (replayed) => replayed.makeDirectory(location) }]
    const create = (at: number): void => {
      events.push({
        apply: (replayed, files) => {
          files[at] = replayed.open(names[at]!, 'create')
        }
      })
      events.push({ apply: (_, files) => files[at]!.write(new Uint8Array(bytes), 0) })
    }
    // Prepared, or created when they are begun.
    const isPrepared = round % 2 === 0
    for (const at of names.keys()) if (isPrepared || at === 0) create(at)
    const prepared = events.length
    for (const at of names.keys()) {
      if (!isPrepared && at > 0) create(at)
      for (let from = 0; from < bytes; ) {
        const [position, count] = [from, 1 + below(60)]
        const written = new Uint8Array(Math.min(count, bytes - position)).fill(1)
        events.push({ apply: (_, files) => files[at]!.write(written, position) })
        from += count
      }
    }
    const replay = new Replay(events, () => (isPrepared || below(4) > 0 ? below(2) : below(20)))
    replay.run(prepared + below(events.length - prepared))
    const readNow = (name: string): string => contentOf(replay.fileSystem, name)
    const before = names.map(readNow)
    const frozen = await freeze(replay.reader(), location)
    const found = names.map((name) => contentOf(frozen, name))
    assert.match(found.map((content) => content.padEnd(bytes, '0')).join(''), /^1*0*$/, `round ${round}`)
    for (const [i, content] of found.entries()) {
      if (content.length < bytes) torn++
      assert.ok(content.startsWith(before[i]!.replace(/0+$/, '')), `round ${round}`)
    }
    frozen.release()
  }
  assert.ok(torn > 20, `${torn} logs changed while they were read`)
})

/** Empty if there is no such file. */
function contentOf(fileSystem: FileSystem, path: string): string {
  if (fileSystem.size(path) === undefined) return ''
  const file = fileSystem.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0)
  file.close()
  return bytes.join('')
}

test('a store that changes its manifest without a pause is refused, and no file stays open', async () => {
  const fileSystem = new MemoryFileSystem()
  await (await openLevel(fileSystem)).close()
  const manifest = fileSystem.list(location).find((name) => name.startsWith('MANIFEST'))!
  const below = new FaultyFileSystem(fileSystem, {
    before: ({ operation, path }) => {
      if (operation !== 'open' || !path.endsWith(manifest)) return
      const file = fileSystem.open(path, 'update')
      file.write(Uint8Array.of(0), file.size())
    }
  })
  const error = await rejection(freeze(below, location))
  assert.is(error.code, 'LEVEL_LOCKED')
  assert.match(error.message, 'changes its tables without a pause')
  assert.equal(below.openFiles, [])
})

test.run()
