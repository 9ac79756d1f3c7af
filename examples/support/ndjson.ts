/** Documents of a file of newline-delimited JSON, compressed or not. Expects good input; `petaldb import` does not. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { Document } from '../../src/index.ts'

export async function* readNdjson(path: string): AsyncGenerator<Document, void, undefined> {
  const file = createReadStream(path)
  const text = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  // pipe() does not carry errors over.
  if (text !== file) file.on('error', (error) => text.destroy(error))
  for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') yield JSON.parse(line) as Document
  }
}
