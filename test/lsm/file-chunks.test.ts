import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FileChunks } from '../../src/lsm/fs/file-chunks.ts'
import { isOpen } from '../support/open-files.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i}\n`).join(''))

async function withFile(run: (path: string) => Promise<void>): Promise<void> {
  const directory = temporaryDirectory()
  const path = join(directory, 'input')
  writeFileSync(path, bytes)
  await run(path)
  assert.not(isOpen(path), 'the file is closed')
}

test('the chunks are the file, also if none is given back', () =>
  withFile(async (path) => {
    const file = await FileChunks.open(pathToFileURL(path))
    assert.is(file.size, bytes.length)
    const chunks: Uint8Array[] = []
    for await (const chunk of file) chunks.push(chunk)
    assert.ok(chunks.length > 4)
    assert.ok(Buffer.concat(chunks).equals(bytes))
  }))

test('memory given back is used again, two chunks in turn', () =>
  withFile(async (path) => {
    const file = await FileChunks.open(path)
    const memories = new Set<ArrayBufferLike>()
    const copies: Buffer[] = []
    for await (const chunk of file) {
      memories.add(chunk.buffer)
      copies.push(Buffer.from(chunk))
      file.recycle(chunk)
      file.recycle(chunk)
    }
    assert.is(memories.size, 2)
    assert.ok(Buffer.concat(copies).equals(bytes))
  }))

test('bytes that are not a chunk are not taken for one', () =>
  withFile(async (path) => {
    const file = await FileChunks.open(path)
    const foreign = Buffer.allocUnsafeSlow(256 * 1024)
    for await (const chunk of file) {
      file.recycle(foreign)
      assert.is.not(chunk.buffer, foreign.buffer)
    }
  }))

test('leaving early, or closing from elsewhere, closes the file', () =>
  withFile(async (path) => {
    for await (const chunk of await FileChunks.open(path)) {
      assert.ok(chunk.length > 0)
      break
    }
    const file = await FileChunks.open(path)
    let chunks = 0
    for await (const _ of file) {
      chunks++
      await file.close()
    }
    assert.is(chunks, 1)
  }))

test('a directory or a missing file cannot be opened', async () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'folder'))
  for (const [name, code] of [
    ['folder', 'EISDIR'],
    ['nothing', 'ENOENT']
  ] as const) {
    const error: unknown = await FileChunks.open(join(directory, name)).catch((reason: unknown) => reason)
    assert.is((error as NodeJS.ErrnoException).code, code)
  }
})

test.run()
