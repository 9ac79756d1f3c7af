/**
 * Yields the documents of a newline-delimited JSON file, compressed or not. Expects valid input, unlike
 * `petaldb import`.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { Document } from '../../src/index.ts'

export async function* readNdjson(path: string): AsyncGenerator<Document, void, undefined> {
  const file = createReadStream(path)
  const text = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  // pipe() does not propagate errors.
  if (text !== file) file.on('error', (error) => text.destroy(error))
  for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') yield JSON.parse(line) as Document
  }
}
