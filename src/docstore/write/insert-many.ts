/**
 * insertMany: cuts any iterable into runs of bounded size and keeps one run being prepared while one is committed.
 */
import { PetalError } from '../../model/errors.ts'
import type { Document } from '../../model/types.ts'
import { assertDocument } from '../documents/stored-form.ts'
import { BulkWriteError, type WriteError } from '../errors.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { InsertManyResult } from '../results.ts'

/** Documents of the first run, before their size is known. */
const firstRunDocuments = 100
/** As many as a batch takes: an import by runs of 250 took a tenth more of the processor (measured). */
const maxRunDocuments = 1000
const runCharacters = 4 * 1024 * 1024

export type DocumentSource = Iterable<Document> | AsyncIterable<Document>

export interface InsertManyOptions {
  /** Stop at the first document that is refused. Default true. */
  readonly ordered?: boolean
}

export async function insertMany(
  collection: OpenCollection,
  source: DocumentSource,
  { ordered = true }: InsertManyOptions
): Promise<InsertManyResult> {
  const insertedIds: Record<number, unknown> = {}
  const writeErrors: WriteError[] = []
  let offset = 0
  let insertedCount = 0
  let underWay: Promise<void> = Promise.resolve()
  let runDocuments = firstRunDocuments
  const insertRun = async (run: readonly Document[]): Promise<boolean> => {
    const { ids, errors, count, characters, done } = await collection.writer.insert(run, ordered)
    // Its error is thrown below, when it is awaited.
    done.catch(ignore)
    await underWay.catch(async (error: unknown) => {
      // Whoever is told that it failed is told when nothing of it is being written any more.
      await done.catch(ignore)
      throw error
    })
    underWay = done
    ids.forEach((id, i) => {
      if (id !== undefined) insertedIds[offset + i] = id
    })
    for (const error of errors) writeErrors.push({ ...error, index: offset + error.index })
    insertedCount += count
    offset += run.length
    if (count > 0)
      runDocuments = Math.max(1, Math.min(maxRunDocuments, Math.floor((runCharacters * count) / characters)))
    return ordered && errors.length > 0
  }
  const { writer } = collection
  await forEachRun(
    source,
    (document) => writer.ensureId(document),
    () => runDocuments,
    insertRun
  )
  await underWay
  const [first, ...others] = writeErrors
  if (first === undefined) return { acknowledged: true, insertedCount, insertedIds }
  throw new BulkWriteError([first, ...others], {
    insertedCount,
    insertedIds,
    matchedCount: 0,
    modifiedCount: 0,
    deletedCount: 0,
    upsertedCount: 0,
    upsertedIds: {}
  })
}

/** Hands runs to `visit` until it answers true. Documents get their `_id` as they are taken from the source. */
async function forEachRun(
  source: DocumentSource,
  ensureId: (document: Document) => void,
  size: () => number,
  visit: (run: readonly Document[]) => Promise<boolean>
): Promise<void> {
  let run: Document[] = []
  const take = (document: unknown): boolean => {
    assertDocument(document)
    ensureId(document)
    run.push(document)
    return run.length >= size()
  }
  const flush = (): Promise<boolean> => {
    const full = run
    run = []
    return visit(full)
  }
  // Two loops: `for await` over a plain array would cost a turn of the microtask queue per document.
  if (isIterable(source)) {
    for (const document of source) if (take(document) && (await flush())) return
  } else if (isAsyncIterable(source)) {
    for await (const document of source) if (take(document) && (await flush())) return
  } else {
    throw new PetalError('BadValue', `insertMany takes an iterable of documents, got ${typeof source}`)
  }
  if (run.length > 0) await flush()
}

function isIterable(source: unknown): source is Iterable<Document> {
  return typeof source === 'object' && source !== null && Symbol.iterator in source
}

function isAsyncIterable(source: unknown): source is AsyncIterable<Document> {
  return typeof source === 'object' && source !== null && Symbol.asyncIterator in source
}

function ignore(): void {}
