/**
 * insertMany(): inserts any iterable of documents in batches of bounded size, and long inputs as segments built by
 * threads.
 */
import { AbortedError, PetalError, throwIfAborted } from '../../model/errors.ts'
import { type Document, describeType } from '../../model/types.ts'
import type { CloseSignal } from '../close-signal.ts'
import type { Known } from '../known-options.ts'
import type { OpenCollection } from '../open-collection.ts'
import { assertBoolean, assertOptions } from '../option-checks.ts'
import type { InsertManyResult } from '../results.ts'
import { checkThreads, knownThreads, type ThreadsOption } from '../threads/threads-option.ts'
import { withIdlePause } from './idle-source.ts'
import { InsertManyRun } from './insert-many-run.ts'
import { SourceEnd } from './source-end.ts'

export type DocumentSource = Iterable<Document> | AsyncIterable<Document>

/** Options of insertMany(). */
export interface InsertManyOptions extends ThreadsOption {
  /** Stop at the first rejected document. Default true. */
  readonly ordered?: boolean | undefined
  /**
   * Aborts with an AbortedError, whose `details` have the `insertedCount`: documents yielded by then are inserted.
   */
  readonly signal?: AbortSignal | undefined
}

const knownInsertMany = { ...knownThreads, ordered: true, signal: true } satisfies Known<InsertManyOptions>

/** @throws PetalError BadValue */
export function checkInsertMany(options: InsertManyOptions): void {
  assertOptions('insertMany', options, knownInsertMany)
  assertBoolean('ordered', options.ordered)
  checkThreads(options)
  throwIfAborted(options.signal)
}

/** @param closing stops an asynchronous source, which may never end by itself */
export async function insertMany(
  collection: OpenCollection,
  source: DocumentSource,
  options: InsertManyOptions,
  closing: CloseSignal
): Promise<InsertManyResult> {
  const inserts = new InsertManyRun(collection, options, Array.isArray(source) ? source.length : undefined)
  try {
    try {
      await takeAll(source, inserts, options.signal, closing)
    } catch (error) {
      // The source failed, was aborted, or yielded something that is not a document: what came before is still
      // inserted. The first error wins.
      if (!inserts.hasFailed) await inserts.finish().catch(() => {})
      if (!(error instanceof AbortedError)) throw error
      throw new AbortedError(error.cause, { insertedCount: inserts.insertedCount })
    }
    return await inserts.finish()
  } finally {
    await inserts.close()
  }
}

/**
 * Takes documents until the source ends, or until one is rejected in an ordered insert.
 * @throws AbortedError, PetalError DatabaseNotOpen, BadValue
 */
async function takeAll(
  source: DocumentSource,
  inserts: InsertManyRun,
  signal: AbortSignal | undefined,
  closing: CloseSignal
): Promise<void> {
  // Two loops: `for await` over a plain array would cost a turn of the microtask queue per document.
  if (isIterable(source)) {
    for (const document of source) {
      throwIfAborted(signal)
      const isOver = inserts.take(document)
      if (isOver instanceof Promise ? await isOver : isOver) return
    }
    await inserts.end()
  } else if (isAsyncIterable(source)) {
    const end = new SourceEnd(signal, closing)
    try {
      for await (const document of withIdlePause(source, inserts, end)) if (await inserts.take(document)) return
    } finally {
      end.release()
    }
    throwIfAborted(signal)
  } else {
    throw new PetalError('BadValue', `insertMany takes an iterable of documents, got ${describeType(source)}`)
  }
}

/** Not of a string, whose characters are no documents. */
export function isIterable(source: unknown): source is Iterable<Document> {
  return typeof source === 'object' && source !== null && Symbol.iterator in source
}

function isAsyncIterable(source: unknown): source is AsyncIterable<Document> {
  return typeof source === 'object' && source !== null && Symbol.asyncIterator in source
}
