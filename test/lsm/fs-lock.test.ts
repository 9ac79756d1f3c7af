/** One process at a time holds a directory's lock, whatever the order of calls and whichever process is killed. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasCode } from '../../src/lsm/errors.ts'
import { lockBreakName, parseFileName } from '../../src/lsm/fs/file-names.ts'
import { acquireLock, type Lock, prepareLock } from '../../src/lsm/fs/lock.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { nodeFileSystem } from '../../src/lsm/fs/node-file-system.ts'
import { mayBeAlive, ownIdentity } from '../../src/lsm/fs/process-identity.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { loader, program } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { get, put } from './file-system-cases.ts'
import type { Order } from './lock-contender.ts'

/** A process number that cannot exist: Linux has at most 2²². */
const noPid = 0x7fffffff
const staleNonce = 'a'.repeat(32)

function deadRecord(nonce = staleNonce): string {
  return JSON.stringify({ pid: noPid, nonce })
}

/** A memory file system that counts as shared with other processes, so that its LOCK file decides. */
class SharedMemory extends FaultyFileSystem {
  override readonly isShared = true
}

class WithoutLinks extends SharedMemory {
  override link(from: string): void {
    throw systemError('EPERM', 'link', from)
  }
}

function memoryWith(files: Readonly<Record<string, string>>): MemoryFileSystem {
  const memory = new MemoryFileSystem()
  memory.makeDirectory('/db')
  for (const [name, text] of Object.entries(files)) put(memory, `/db/${name}`, text)
  return memory
}

/** @returns undefined if the directory is locked */
function attempt(fileSystem: FaultyFileSystem | typeof nodeFileSystem, location: string): Lock | undefined {
  try {
    return acquireLock(fileSystem, location)
  } catch (error) {
    assert.ok(hasCode(error, 'LEVEL_LOCKED'), String(error))
    return undefined
  }
}

const children: ChildProcess[] = []
test.after(() => {
  for (const child of children) child.kill('SIGKILL')
})

async function contender(): Promise<ChildProcess> {
  const child = fork(program('test/lsm/lock-contender.ts'), { execArgv: [...loader] })
  children.push(child)
  await once(child, 'message')
  return child
}

async function tell(child: ChildProcess, order: Order): Promise<string> {
  const answer = once(child, 'message')
  child.send(order)
  return String((await answer)[0])
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

test('a directory is locked once per process, whichever path names it, until the lock is released', () => {
  const directory = temporaryDirectory()
  const other = join(temporaryDirectory(), 'link')
  symlinkSync(directory, other)
  const lock = acquireLock(nodeFileSystem, directory)
  for (const location of [directory, `${directory}/.`, other]) {
    assert.throws(
      () => acquireLock(nodeFileSystem, location),
      (error: unknown) => hasCode(error, 'LEVEL_LOCKED') && /locked by this process/.test(String(error))
    )
  }
  lock.release()
  lock.release()
  assert.equal(readdirSync(directory), [])
  acquireLock(nodeFileSystem, other).release()
})

test('a directory locked by a process is locked for its other threads too', async () => {
  const directory = temporaryDirectory()
  const lock = acquireLock(nodeFileSystem, directory)
  const url = (path: string) => JSON.stringify(new URL(`../../src/lsm/fs/${path}.ts`, import.meta.url).href)
  // A worker cannot load TypeScript by itself.
  const script = `
    const { parentPort } = require('node:worker_threads')
    const run = async () => {
      const { register } = await import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})
      register()
      const { acquireLock } = await import(${url('lock')})
      const { nodeFileSystem } = await import(${url('node-file-system')})
      acquireLock(nodeFileSystem, ${JSON.stringify(directory)})
    }
    run().then(() => 'acquired', ({ code, message }) => code + ' ' + message).then((result) => parentPort.postMessage(result))`
  const worker = new Worker(script, { eval: true })
  const [refusal] = await once(worker, 'message')
  assert.match(refusal, /^LEVEL_LOCKED .* is locked by this process, in another thread/)
  await worker.terminate()
  lock.release()
})

test('a directory that was renamed while it was locked can be locked again once the lock is released', () => {
  const directory = temporaryDirectory()
  const lock = acquireLock(nodeFileSystem, directory)
  const renamed = `${directory}-renamed`
  renameSync(directory, renamed)
  assert.throws(() => acquireLock(nodeFileSystem, renamed), /or under its former name/)
  lock.release()
  acquireLock(nodeFileSystem, renamed).release()
  assert.equal(readdirSync(renamed), [])
  rmSync(renamed, { recursive: true })
})

test('acquireLock() of a directory that does not exist throws LEVEL_IO_ERROR', async () => {
  const none = join(temporaryDirectory(), 'none')
  const isMissing = (error: unknown) =>
    hasCode(error, 'LEVEL_IO_ERROR') && hasCode((error as Error).cause, 'ENOENT') && /Cannot lock/.test(String(error))
  assert.throws(() => acquireLock(nodeFileSystem, none), isMissing)
  await prepareLock(nodeFileSystem, none).then(
    () => assert.unreachable(),
    (error: unknown) => assert.ok(isMissing(error), String(error))
  )
})

test('a record that was prepared is on the disk before the lock is taken, and is gone if it is not taken', async () => {
  const memory = memoryWith({})
  await memory.syncDirectory('/')
  const fileSystem = new SharedMemory(memory)
  const prepared = await prepareLock(fileSystem, '/db')
  assert.is(memory.list('/db').length, 1)
  const lock = acquireLock(fileSystem, '/db', prepared)
  assert.equal(memory.list('/db'), ['LOCK'])
  assert.is(JSON.parse(get(memory, '/db/LOCK') ?? '').nonce, prepared.nonce)
  for (const state of memory.crashStates()) {
    const text = get(state, '/db/LOCK')
    if (text !== undefined) assert.is(JSON.parse(text).nonce, prepared.nonce, state.origin)
  }
  for (const other of [fileSystem, new SharedMemory(memory)]) {
    const second = await prepareLock(other, '/db')
    assert.throws(
      () => acquireLock(other, '/db', second),
      (error: unknown) => hasCode(error, 'LEVEL_LOCKED')
    )
    assert.equal(memory.list('/db'), ['LOCK'])
  }
  lock.release()
  assert.equal(memory.list('/db'), [])
})

test('a prepared record that the holder of the lock has cleaned up is written again', async () => {
  const memory = memoryWith({})
  const fileSystem = new SharedMemory(memory)
  const prepared = await prepareLock(fileSystem, '/db')
  memory.remove(prepared.path)
  const lock = acquireLock(fileSystem, '/db', prepared)
  assert.not.equal(JSON.parse(get(memory, '/db/LOCK') ?? '').nonce, prepared.nonce)
  lock.release()
  assert.equal(memory.list('/db'), [])
})

test('whichever call fails while a record is prepared, nothing is left open or behind', async () => {
  for (let at = 1; ; at++) {
    const fileSystem = new SharedMemory(memoryWith({}))
    fileSystem.fail({ at, isPersistent: false, code: 'EIO' })
    let isDone = false
    try {
      const prepared = await prepareLock(fileSystem, '/db')
      isDone = true
      acquireLock(fileSystem, '/db', prepared).release()
    } catch (error) {
      assert.ok(hasCode(error, 'LEVEL_IO_ERROR'), String(error))
    }
    assert.equal(fileSystem.openFiles, [])
    const isOver = fileSystem.matches < at
    fileSystem.heal()
    if (!isDone) assert.equal(fileSystem.list('/db'), [], `call ${at}`)
    acquireLock(fileSystem, '/db').release()
    if (isOver) break
  }
})

test('release() leaves the lock that another process took after ours was removed by hand', () => {
  const directory = temporaryDirectory()
  const lock = acquireLock(nodeFileSystem, directory)
  writeFileSync(join(directory, 'LOCK'), deadRecord())
  lock.release()
  assert.equal(readdirSync(directory), ['LOCK'])
})

test('a process counts as alive only if its number, start time and boot match, as far as known', () => {
  const own = ownIdentity()
  assert.ok(mayBeAlive(own))
  assert.ok(mayBeAlive({ pid: own.pid }), 'what the system does not say is not held against it')
  assert.not.ok(mayBeAlive({ pid: noPid }))
  if (own.bootId !== undefined) assert.not.ok(mayBeAlive({ ...own, bootId: 'another' }))
  if (own.startTime !== undefined) assert.not.ok(mayBeAlive({ ...own, startTime: own.startTime - 1 }))
})

test('a zombie counts as dead, as its parent may never wait for it', async () => {
  if (process.platform !== 'linux') return
  // The shell becomes `sleep`, which does not wait for the child that the shell started.
  const script = `"${process.execPath}" -e "setInterval(() => {}, 1000)" & echo $!; exec sleep 60`
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(parent)
  const pid = Number(String((await once(parent.stdout, 'data'))[0]))
  assert.ok(mayBeAlive({ pid }))
  const deadline = Date.now() + 60_000
  // While it is still the shell, it waits for ended children after each command.
  const isSleep = () => readFileSync(`/proc/${parent.pid}/comm`, 'latin1').trim() === 'sleep'
  while (!isSleep() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(isSleep())
  process.kill(pid, 'SIGKILL')
  while (mayBeAlive({ pid }) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.not.ok(mayBeAlive({ pid }))
  process.kill(pid, 0)
  parent.kill('SIGKILL')
})

test('locks of dead processes are broken, also those being broken by a process that died, and so on', () => {
  const [b, c] = ['b'.repeat(32), 'c'.repeat(32)]
  const chain = {
    LOCK: deadRecord(),
    [lockBreakName(staleNonce)]: deadRecord(b),
    [lockBreakName(b)]: deadRecord(c)
  }
  for (let length = 1; length <= 3; length++) {
    const memory = memoryWith(Object.fromEntries(Object.entries(chain).slice(0, length)))
    const lock = acquireLock(new SharedMemory(memory), '/db')
    assert.is(attempt(new SharedMemory(memory), '/db'), undefined)
    assert.equal(memory.list('/db'), ['LOCK'])
    lock.release()
    assert.equal(memory.list('/db'), [])
  }
})

test('a LOCK file that is not a valid record counts as held, such as the empty one of another engine', () => {
  const records = ['', '{"pid":', 'null', '[]', '7', JSON.stringify({ pid: noPid }), 'x'.repeat(10_000)]
  records.push(JSON.stringify({ pid: 0, nonce: staleNonce }), JSON.stringify({ pid: -1, nonce: staleNonce }))
  records.push(JSON.stringify({ pid: 1.5, nonce: staleNonce }), JSON.stringify({ pid: noPid, nonce: '../x' }))
  for (const text of records) {
    const memory = memoryWith({ LOCK: text })
    assert.is(attempt(new SharedMemory(memory), '/db'), undefined, text.slice(0, 50))
    assert.is(get(memory, '/db/LOCK'), text)
    assert.equal(memory.list('/db'), ['LOCK'])
  }
})

test('in a memory file system of this thread alone, a simulated crash leaves the lock free', () => {
  const memory = memoryWith({})
  const lock = acquireLock(memory, '/db')
  assert.throws(
    () => acquireLock(memory, '/db'),
    (error: unknown) => hasCode(error, 'LEVEL_LOCKED')
  )
  const clone = memory.snapshot()
  assert.ok(clone.list('/db').includes('LOCK'))
  acquireLock(clone, '/db').release()
  lock.release()
})

test('the LOCK file is complete or missing in every state that a crash may leave', async () => {
  const memory = memoryWith({})
  await memory.syncDirectory('/')
  acquireLock(memory, '/db')
  let found = 0
  for (const state of memory.crashStates()) {
    const text = get(state, '/db/LOCK')
    if (text === undefined) continue
    found++
    assert.is(JSON.parse(text).pid, process.pid, state.origin)
  }
  assert.ok(found > 0)
})

for (const [situation, files] of Object.entries({
  'a free directory': {},
  'a stale lock': { LOCK: deadRecord() },
  'a stale lock whose breaker died': { LOCK: deadRecord(), [lockBreakName(staleNonce)]: deadRecord('b'.repeat(32)) }
})) {
  for (const FileSystem of [SharedMemory, WithoutLinks]) {
    const title = `${situation}${FileSystem === WithoutLinks ? ', no hard links' : ''}`

    test(`${title}: of three attempts that interrupt each other at any call, at most one holds the lock`, () => {
      let runs = 0
      /** Runs `then` once, before the Nth call. */
      const interrupted = (memory: MemoryFileSystem, at: number, then: () => void) => {
        let calls = 0
        return new FileSystem(memory, { before: () => void (++calls === at && then()) })
      }
      const run = (first: number, second: number, isReleased: boolean): boolean => {
        const memory = memoryWith(files)
        const locks: (Lock | undefined)[] = []
        let reached = 0
        const third = () => {
          reached++
          locks.push(attempt(new FileSystem(memory), '/db'))
        }
        const secondStarts = () => {
          reached++
          const lock = attempt(interrupted(memory, second, third), '/db')
          if (isReleased) lock?.release()
          else locks.push(lock)
        }
        locks.push(attempt(interrupted(memory, first, secondStarts), '/db'))
        runs++
        const holders = locks.filter((lock) => lock !== undefined)
        assert.ok(holders.length <= 1, `${holders.length} holders after ${first}, ${second}`)
        if (!isReleased) assert.is(holders.length, 1, `nobody after ${first}, ${second}`)
        if (holders.length === 1) assert.is(attempt(new FileSystem(memory), '/db'), undefined)
        for (const lock of holders) lock?.release()
        acquireLock(new FileSystem(memory), '/db').release()
        assert.equal(
          memory.list('/db').filter((name) => parseFileName(name)?.kind !== 'temporary'),
          []
        )
        return reached === 2
      }
      for (const isReleased of [false, true]) {
        for (let first = 1; run(first, 1, isReleased); first++) {
          for (let second = 2; run(first, second, isReleased); second++);
        }
      }
      assert.ok(runs > 100, String(runs))
    })

    test(`${title}: whichever call fails, the next attempt succeeds and no file is left open`, () => {
      for (const isPersistent of [false, true]) {
        for (let at = 1; ; at++) {
          const fileSystem = new FileSystem(memoryWith(files))
          fileSystem.fail({ at, isPersistent, code: 'EIO' })
          try {
            acquireLock(fileSystem, '/db').release()
          } catch (error) {
            assert.ok(hasCode(error, 'LEVEL_IO_ERROR'), String(error))
          }
          assert.equal(fileSystem.openFiles, [])
          const isOver = fileSystem.matches < at
          fileSystem.heal()
          if (FileSystem === SharedMemory || !isPersistent) acquireLock(fileSystem, '/db').release()
          if (isOver) break
        }
      }
    })
  }
}

test('after kill -9 of the owner, the next acquireLock() succeeds at once', async () => {
  const directory = temporaryDirectory()
  for (let round = 0; round < 3; round++) {
    const child = await contender()
    assert.is(await tell(child, { kind: 'acquire', directory, at: 0 }), 'acquired')
    assert.throws(
      () => acquireLock(nodeFileSystem, directory),
      (error: unknown) => hasCode(error, 'LEVEL_LOCKED') && String(error).includes(`process ${child.pid}`)
    )
    await kill(child)
    acquireLock(nodeFileSystem, directory).release()
    assert.equal(readdirSync(directory), [])
  }
})

test('a process killed while it acquires or releases the lock does not keep it', async () => {
  const directory = temporaryDirectory()
  for (let round = 0; round < 6; round++) {
    const child = await contender()
    assert.is(await tell(child, { kind: 'loop', directory }), 'looping')
    await new Promise((resolve) => setTimeout(resolve, 10 + 7 * round))
    await kill(child)
    acquireLock(nodeFileSystem, directory).release()
    assert.equal(
      readdirSync(directory).filter((name) => parseFileName(name)?.kind !== 'temporary'),
      []
    )
  }
})

test('of three processes that break a stale lock at the same time, exactly one gets it', async () => {
  const directory = temporaryDirectory()
  const contenders = await Promise.all([contender(), contender(), contender()])
  for (let round = 0; round < 150; round++) {
    const nonce = round.toString(16).padStart(32, '0')
    writeFileSync(join(directory, 'LOCK'), deadRecord(nonce))
    const at = Date.now() + 4
    const answers = await Promise.all(contenders.map((child) => tell(child, { kind: 'acquire', directory, at })))
    assert.equal(answers.sort(), ['acquired', 'locked', 'locked'], `round ${round}`)
    assert.equal(readdirSync(directory), ['LOCK'])
    await Promise.all(contenders.map((child) => tell(child, { kind: 'release' })))
    assert.equal(readdirSync(directory), [])
  }
  await Promise.all(contenders.map(kill))
})

test.run()
