/** The process of one store in bench/queue.ts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { directoryBytes } from '../directory-bytes.ts'
import { serve } from '../rpc.ts'
import { openSingleStore, type SingleStore, type SingleStoreName } from './store.ts'

export interface QueueInput {
  readonly name: SingleStoreName
  /** Number of documents in the queue. */
  readonly count: number
}

export interface QueueState {
  /** Microseconds per insert and per take. */
  readonly insert: number
  readonly take: number
  readonly diskBytes: number
  /** Resident memory after a forced collection. */
  readonly residentBytes: number
}

let store: SingleStore | undefined
let directory: string | undefined
let tweets: Document[] = []
let nextId = 0
let oldestId = 0

/** Any number of documents from a few in memory. */
function next(): Document {
  const _id = nextId++
  return { ...tweets[_id % tweets.length]!, _id }
}

const handlers = {
  async prepare({ name, count }: QueueInput): Promise<string> {
    directory = mkdtempSync(join(tmpdir(), 'petaldb-queue-'))
    tweets = [...generateTweets({ count: 10_000, seed: 1 })] as unknown as Document[]
    store = await openSingleStore(name, directory)
    while (nextId < count) await store.load(Array.from({ length: Math.min(1000, count - nextId) }, next))
    await store.settle?.()
    return store.description
  },

  /** Inserts a document and takes the oldest, `each` times. */
  async round(each: number): Promise<QueueState> {
    const { insert, takeOldest } = store!
    let inserting = 0
    let taking = 0
    for (let i = 0; i < each; i++) {
      const document = next()
      const begin = performance.now()
      await insert(document)
      const middle = performance.now()
      const taken = await takeOldest!()
      taking += performance.now() - middle
      inserting += middle - begin
      if (taken?._id !== oldestId++) throw new Error(`took ${taken?._id} instead of ${oldestId - 1}`)
    }
    globalThis.gc?.()
    return {
      insert: (inserting * 1000) / each,
      take: (taking * 1000) / each,
      diskBytes: directoryBytes(directory!).total,
      residentBytes: process.memoryUsage.rss()
    }
  },

  async close(): Promise<void> {
    await store!.close()
    rmSync(directory!, { recursive: true, force: true })
  }
}

export type QueueHandlers = typeof handlers

serve(handlers)
