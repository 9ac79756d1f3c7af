/** Records read in place give the same documents as records read as text. */
import { ObjectId } from 'bson'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DocumentCacheBudget } from '../../src/docstore/documents/document-cache-budget.ts'
import { open } from '../../src/docstore/open.ts'
import type { Store } from '../../src/docstore/options.ts'
import { Catalog } from '../../src/docstore/store/catalog.ts'
import { CollectionStore } from '../../src/docstore/store/collection-store.ts'
import { openStore } from '../../src/docstore/store/open-store.ts'
import type { Document } from '../../src/model/types.ts'
import { scratchPath } from './scratch.ts'

const documents: Document[] = [
  { _id: 1, text: 'plain', nested: { list: [1, null, 'ä😀'] } },
  { _id: new ObjectId('0123456789abcdef01234567'), a: 1 },
  { _id: 2, at: new Date(0), big: 2n ** 62n },
  { _id: new ObjectId('0123456789abcdef01234568'), at: new Date(1) },
  { _id: 3, text: 'x'.repeat(600_000) },
  ...Array.from({ length: 700 }, (_, i) => ({ _id: 100 + i, text: 'y'.repeat((i * 37) % 900) })),
  { _id: 4, text: 'é'.repeat(150_000) },
  { _id: 5 }
]

interface Seen {
  readonly ordinal: number
  readonly json: string | undefined
  readonly form: string | undefined
  readonly document: Document
}

async function readAll(location: string | Store): Promise<{ seen: Seen[]; areInPlace: boolean }> {
  const db = await open(location)
  await db.insertMany(documents)
  await db.deleteOne({ _id: 150 })
  await db.close()
  const opened = await openStore(location, {})
  const catalog = await Catalog.open(opened.store, false)
  const number = catalog.entry('default')?.number ?? Number.NaN
  const store = new CollectionStore(opened.store, number, catalog.stateKey(number), {
    sync: false,
    readOnly: true,
    filters: undefined,
    scanThreads: 0,
    cacheBudget: new DocumentCacheBudget(0)
  })
  const seen: Seen[] = []
  const decoder = new TextDecoder()
  const source = store.source.stored!
  for await (const run of source.read(0, 1000)) {
    for (const stored of run) {
      const { ordinal, bytes, start, length, form } = stored
      // A view of shared memory cannot be decoded.
      const text = bytes && decoder.decode(bytes.slice(start, start + length))
      seen.push({ ordinal, json: text, form: text === undefined ? undefined : form, document: stored.document() })
    }
  }
  const areInPlace = store.canScan
  await opened.close()
  return { seen, areInPlace }
}

test('records read in place equal records read as text', async () => {
  const inPlace = await readAll(scratchPath())
  const asText = await readAll(new MemoryLevel() as unknown as Store)
  assert.ok(inPlace.areInPlace)
  assert.not.ok(asText.areInPlace)
  assert.is(inPlace.seen.length, documents.length - 1)
  assert.equal(inPlace.seen, asText.seen)
})

test.run()
