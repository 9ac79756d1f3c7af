/** The process of one contender: loads the tweets, runs queries, and returns their times and results. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Document } from '../src/model/types.ts'
import type { Query } from '../src/workload/query-classes.ts'
import { generateTweets } from '../src/workload/tweets.ts'
import { type Contender, type ContenderName, type IndexBytes, opener } from './contender.ts'
import { type DirectoryBytes, directoryBytes } from './directory-bytes.ts'
import { serve } from './rpc.ts'

export interface LoadReport {
  readonly description: string
  readonly loadSeconds: number
  readonly settleSeconds: number
  readonly documents: number
  readonly jsonBytes: number
  readonly rssBytes: number
  readonly heapBytes: number
}

const batchSize = 1_000
/** Time for other threads to finish the work that closing and the garbage collector leave to them. */
const restMilliseconds = 500
/** The process then computes for as long: processors of some virtual machines are slow for a while after a rest. */
const busyMilliseconds = 100
/** Removed when this process exits, unless leave() was called. */
let directory: string | undefined
let contender: Contender | undefined

const handlers = {
  async load({ name, count, seed }: { name: ContenderName; count: number; seed: number }): Promise<LoadReport> {
    const open = await opener(name)
    directory = mkdtempSync(join(tmpdir(), 'petaldb-bench-'))
    contender = await open(directory)
    let loadMilliseconds = 0
    let jsonBytes = 0
    for (let start = 0; start < count; start += batchSize) {
      const documents = [...generateTweets({ count: Math.min(batchSize, count - start), seed, start })]
      const json = documents.map((document) => JSON.stringify(document))
      for (const text of json) jsonBytes += Buffer.byteLength(text)
      const begin = performance.now()
      await contender.load(documents, json)
      loadMilliseconds += performance.now() - begin
    }
    const begin = performance.now()
    await contender.settle()
    const settleSeconds = (performance.now() - begin) / 1000
    return {
      description: contender.description,
      loadSeconds: loadMilliseconds / 1000,
      settleSeconds,
      documents: count,
      jsonBytes,
      ...memory()
    }
  },

  /** Closes the store and leaves its directory to another process. @returns its path */
  async leave(): Promise<string> {
    await opened().close()
    contender = undefined
    const left = directory!
    directory = undefined
    return left
  },

  /** Loads the library of a contender. */
  async prepare(name: ContenderName): Promise<void> {
    await opener(name)
  },

  /** Opens a store that another process left. This process has loaded only its library. */
  async open(left: { name: ContenderName; directory: string }): Promise<{ milliseconds: number }> {
    directory = left.directory
    return timedOpen(left.name)
  },

  /** Closes and reopens the store. */
  async reopen(name: ContenderName): Promise<{ milliseconds: number }> {
    await opened().close()
    contender = undefined
    globalThis.gc?.()
    await sleep(restMilliseconds)
    keepBusy(busyMilliseconds)
    return timedOpen(name)
  },

  /** Runs the query until `milliseconds` have passed, at least once. @returns milliseconds per run */
  async time({ query, milliseconds }: { query: Query; milliseconds: number }): Promise<number> {
    const store = opened()
    const begin = performance.now()
    let runs = 0
    let elapsed = 0
    do {
      await store.find(query)
      runs++
      elapsed = performance.now() - begin
    } while (elapsed < milliseconds)
    return elapsed / runs
  },

  /** Ids and a digest of the complete documents, in order if the query sorts. */
  async answer(query: Query): Promise<{ hits: number; digest: string; ids: number[] }> {
    const found = [...(await opened().find(query))]
    if (query.sort === undefined) found.sort((a, b) => (a._id as number) - (b._id as number))
    const hash = createHash('sha256')
    for (const document of found) hash.update(canonicalJson(document))
    return {
      hits: found.length,
      digest: hash.digest('hex'),
      ids: found.slice(0, 50_000).map(({ _id }) => _id as number)
    }
  },

  /** Resident bytes as they are, garbage included. */
  async rss(): Promise<number> {
    return process.memoryUsage.rss()
  },

  async memory(): Promise<{ rssBytes: number; heapBytes: number }> {
    return memory()
  },

  /** Closes the store and returns its size on disk. */
  async close(): Promise<{ bytes: DirectoryBytes; indexBytes: IndexBytes | undefined }> {
    const indexBytes = await opened().indexBytes?.()
    await opened().close()
    const bytes = directoryBytes(directory!)
    rmSync(directory!, { recursive: true })
    return { bytes, indexBytes }
  }
}

export type ContenderHandlers = typeof handlers

function keepBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** @returns the time taken, without that of loading the library */
async function timedOpen(name: ContenderName): Promise<{ milliseconds: number }> {
  const open = await opener(name)
  const begin = performance.now()
  contender = await open(directory!)
  return { milliseconds: performance.now() - begin }
}

function opened(): Contender {
  if (contender === undefined) throw new TypeError('load first')
  return contender
}

/** Memory after a garbage collection, if the flags allow one. */
function memory(): { rssBytes: number; heapBytes: number } {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rssBytes: rss, heapBytes: heapUsed + external }
}

/** JSON with sorted keys, since not every store keeps their order. */
function canonicalJson(document: Document): string {
  return JSON.stringify(document, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  )
}

process.once('exit', () => {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
})
serve(handlers)
