/** Tests that every file system must pass; run by fs-contract.test.ts on each of them. */
import { join } from 'node:path'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeDurableDirectory } from '../../src/lsm/fs/durable-directory.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'

interface Context {
  readonly fileSystem: FileSystem
  /** An empty directory. */
  readonly directory: string
}

export function testFileSystem(test: Test, make: () => Context): void {
  test('read() returns what was written, and fewer bytes at the end of the file', () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    file.write(bytes('hello world'), 0)
    file.write(bytes('W'), 6)
    assert.is(file.size(), 11)
    assert.is(fileSystem.size(join(directory, 'a')), 11)
    assert.is(read(file, 6, 100), 'World')
    assert.is(read(file, 2, 3), 'llo')
    assert.is(read(file, 11, 5), '')
    assert.is(read(file, 100, 5), '')
    file.close()
  })

  test('write() and read() accept shared memory', () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    const shared = new Uint8Array(new SharedArrayBuffer(8)).subarray(2, 5)
    shared.set(bytes('abc'))
    file.write(shared, 0)
    shared.fill(0)
    assert.is(file.read(shared, 0), 3)
    assert.equal([...shared], [...bytes('abc')])
    file.close()
  })

  test('a hole and a grown file read as zeros', () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    file.write(bytes('x'), 3)
    file.truncate(6)
    assert.is(read(file, 0, 10), '\0\0\0x\0\0')
    file.truncate(4)
    file.truncate(5)
    assert.is(read(file, 0, 10), '\0\0\0x\0')
    file.truncate(2)
    file.write(bytes('y'), 4)
    assert.is(read(file, 0, 10), '\0\0\0\0y')
    file.close()
  })

  test('create empties a file, update and read require it to exist, exclusive requires it not to', () => {
    const { fileSystem, directory } = make()
    const path = join(directory, 'a')
    throwsCode(() => fileSystem.open(path, 'read'), 'ENOENT')
    throwsCode(() => fileSystem.open(path, 'update'), 'ENOENT')
    put(fileSystem, path, 'first')
    const updated = fileSystem.open(path, 'update')
    updated.write(bytes('F'), 0)
    assert.is(read(updated, 0, 10), 'First')
    updated.close()
    const reader = fileSystem.open(path, 'read')
    throwsCode(() => reader.write(bytes('x'), 0), 'EBADF')
    throwsCode(() => reader.truncate(0), 'EINVAL')
    assert.is(read(reader, 0, 10), 'First')
    reader.close()
    throwsCode(() => fileSystem.open(path, 'exclusive'), 'EEXIST')
    fileSystem.open(path, 'create').close()
    assert.is(fileSystem.size(path), 0)
    fileSystem.open(join(directory, 'b'), 'exclusive').close()
    throwsCode(() => fileSystem.open(directory, 'create'), 'EISDIR')
  })

  test('a closed file can be closed again but not used', async () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    file.close()
    file.close()
    throwsCode(() => file.read(new Uint8Array(1), 0), 'EBADF')
    throwsCode(() => file.write(bytes('x'), 0), 'EBADF')
    throwsCode(() => file.size(), 'EBADF')
    throwsCode(() => file.truncate(0), 'EBADF')
    throwsCode(() => file.syncNow(), 'EBADF')
    assert.is(await codeOf(file.sync()), 'EBADF')
    await file.prepareRead(0, 1)
  })

  test('prepareRead() resolves beyond the end of the file, and when the file is closed meanwhile', async () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    file.write(bytes('some text'), 0)
    await Promise.all([file.prepareRead(0, 4), file.prepareRead(5, 100), file.prepareRead(1000, 10)])
    assert.is(read(file, 0, 9), 'some text')
    const prepared = file.prepareRead(0, 9)
    file.close()
    await prepared
  })

  test('a sync in progress resolves when the file is closed', async () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    file.write(bytes('x'), 0)
    const syncs = [file.sync(), file.sync()]
    file.close()
    await Promise.all(syncs)
    file.close()
  })

  test('files and directories can be synced', async () => {
    const { fileSystem, directory } = make()
    const file = fileSystem.open(join(directory, 'a'), 'create')
    file.write(bytes('x'), 0)
    file.syncNow()
    await file.sync()
    file.close()
    await fileSystem.syncDirectory(directory)
    assert.is(await codeOf(fileSystem.syncDirectory(join(directory, 'none'))), 'ENOENT')
  })

  test('rename() replaces the target, and an open file follows its new name', () => {
    const { fileSystem, directory } = make()
    put(fileSystem, join(directory, 'a'), 'new')
    put(fileSystem, join(directory, 'b'), 'old')
    const old = fileSystem.open(join(directory, 'b'), 'read')
    const moved = fileSystem.open(join(directory, 'a'), 'update')
    fileSystem.rename(join(directory, 'a'), join(directory, 'b'))
    moved.write(bytes('N'), 0)
    assert.is(get(fileSystem, join(directory, 'b')), 'New')
    assert.is(read(old, 0, 9), 'old')
    assert.equal(fileSystem.list(directory), ['b'])
    throwsCode(() => fileSystem.rename(join(directory, 'a'), join(directory, 'c')), 'ENOENT')
    old.close()
    moved.close()
  })

  test('link() gives a file a second name and never replaces a file', () => {
    const { fileSystem, directory } = make()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(directory, name)) as [string, string, string]
    put(fileSystem, a, 'text')
    put(fileSystem, c, 'other')
    fileSystem.link(a, b)
    throwsCode(() => fileSystem.link(a, c), 'EEXIST')
    throwsCode(() => fileSystem.link(join(directory, 'none'), c), 'ENOENT')
    const file = fileSystem.open(b, 'update')
    file.write(bytes('T'), 0)
    file.close()
    assert.is(get(fileSystem, a), 'Text')
    fileSystem.rename(a, b)
    assert.equal(fileSystem.list(directory).sort(), ['a', 'b', 'c'])
    fileSystem.remove(a)
    assert.is(get(fileSystem, b), 'Text')
    assert.is(get(fileSystem, c), 'other')
  })

  test('isAt() tells the names of an open file from those of others', () => {
    const { fileSystem, directory } = make()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(directory, name)) as [string, string, string]
    put(fileSystem, a, 'text')
    put(fileSystem, c, 'text')
    fileSystem.link(a, b)
    const file = fileSystem.open(a, 'read')
    const names = () => [a, b, c, join(directory, 'none')].map((path) => file.isAt(path))
    assert.equal(names(), [true, true, false, false])
    fileSystem.rename(c, a)
    assert.equal(names(), [false, true, false, false])
    fileSystem.remove(b)
    assert.equal(names(), [false, false, false, false])
    file.close()
    throwsCode(() => file.isAt(a), 'EBADF')
  })

  test('a removed file has no name, but can be read while it is open', () => {
    const { fileSystem, directory } = make()
    const path = join(directory, 'a')
    put(fileSystem, path, 'text')
    const file = fileSystem.open(path, 'read')
    fileSystem.remove(path)
    assert.equal(fileSystem.list(directory), [])
    assert.is(fileSystem.size(path), undefined)
    assert.is(read(file, 0, 9), 'text')
    file.close()
    throwsCode(() => fileSystem.remove(path), 'ENOENT')
  })

  test('removeLater() has removed the file when it resolves', async () => {
    const { fileSystem, directory } = make()
    const path = join(directory, 'a')
    put(fileSystem, path, 'text')
    await fileSystem.removeLater(path)
    assert.equal(fileSystem.list(directory), [])
    const code = await fileSystem.removeLater(path).catch((error: NodeJS.ErrnoException) => error.code)
    assert.is(code, 'ENOENT')
  })

  test('directories are created with their parents, listed, and removed only when empty', () => {
    const { fileSystem, directory } = make()
    const inner = join(directory, 'x', 'y')
    fileSystem.makeDirectory(inner)
    fileSystem.makeDirectory(inner)
    put(fileSystem, join(inner, 'f'), 'text')
    assert.equal(fileSystem.list(join(directory, 'x')), ['y'])
    assert.is(fileSystem.size(inner), undefined)
    throwsCode(() => fileSystem.removeDirectory(inner), 'ENOTEMPTY')
    fileSystem.remove(join(inner, 'f'))
    fileSystem.removeDirectory(inner)
    throwsCode(() => fileSystem.list(inner), 'ENOENT')
    throwsCode(() => fileSystem.removeDirectory(inner), 'ENOENT')
    throwsCode(() => fileSystem.open(join(inner, 'f'), 'create'), 'ENOENT')
    put(fileSystem, join(directory, 'f'), '')
    throwsCode(() => fileSystem.makeDirectory(join(directory, 'f')), 'EEXIST')
    throwsCode(() => fileSystem.list(join(directory, 'f')), 'ENOTDIR')
  })

  test('makeDurableDirectory() creates a directory with its parents', async () => {
    const { fileSystem, directory } = make()
    await makeDurableDirectory(fileSystem, join(directory, 'p', 'q'))
    await makeDurableDirectory(fileSystem, join(directory, 'p', 'q'))
    assert.equal(fileSystem.list(join(directory, 'p')), ['q'])
  })

  test('realPath() is the same for all paths of a directory', () => {
    const { fileSystem, directory } = make()
    fileSystem.makeDirectory(join(directory, 'x'))
    assert.is(fileSystem.realPath(`${directory}/x/../x/.`), fileSystem.realPath(join(directory, 'x')))
    throwsCode(() => fileSystem.realPath(join(directory, 'none')), 'ENOENT')
  })
}

/** Replaces a file's content. */
export function put(fileSystem: FileSystem, path: string, text: string): void {
  const file = fileSystem.open(path, 'create')
  file.write(bytes(text), 0)
  file.close()
}

/** Returns a file's content; undefined if it does not exist. */
export function get(fileSystem: FileSystem, path: string): string | undefined {
  const size = fileSystem.size(path)
  if (size === undefined) return undefined
  const file = fileSystem.open(path, 'read')
  const text = read(file, 0, size)
  file.close()
  return text
}

export function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

function read(file: { read(target: Uint8Array, position: number): number }, position: number, size: number): string {
  const target = Buffer.alloc(size)
  return target.toString('latin1', 0, file.read(target, position))
}

export function throwsCode(action: () => unknown, code: string): void {
  try {
    action()
  } catch (error) {
    assert.is((error as NodeJS.ErrnoException).code, code)
    return
  }
  assert.unreachable(`did not throw ${code}`)
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}
