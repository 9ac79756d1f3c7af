import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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

test('leaving a pipe does not wait for its writer', async () => {
  if (process.platform === 'win32') return
  const path = join(temporaryDirectory(), 'pipe')
  execFileSync('mkfifo', [path])
  // Writes a line, and keeps the pipe open.
  const writer = spawn('sh', ['-c', 'exec > "$1"; echo line; exec sleep 20', 'sh', path])
  const patience = sleep(10_000, 'waited', { ref: false })
  try {
    const leave = async (): Promise<string> => {
      for await (const chunk of await FileChunks.open(path)) return Buffer.from(chunk).toString()
      return 'nothing'
    }
    assert.is(await Promise.race([leave(), patience]), 'line\n')
    assert.not(isOpen(path))
  } finally {
    writer.kill()
  }
})

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
