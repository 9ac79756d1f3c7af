/** The process of one store in bench/single-operations.ts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { directoryBytes } from '../directory-bytes.ts'
import { serve } from '../rpc.ts'
import type { RoundTimes } from './operations.ts'
import { openSingleStore, type SingleStore, type SingleStoreName } from './store.ts'

export interface SingleInput {
  readonly name: SingleStoreName
  /** Number of documents loaded before anything is timed. */
  readonly count: number
  /** Number of operations of each kind per round. */
  readonly each: number
  readonly rounds: number
}

const underWay = 100
let store: SingleStore | undefined
let input: SingleInput | undefined
let directory: string | undefined
let ready: Document[] = []
/** The documents after the first `count`, of which each round inserts and deletes two times `each`. */
let fresh: Document[] = []

const handlers = {
  async prepare(wanted: SingleInput): Promise<string> {
    input = wanted
    const { name, count, each, rounds } = wanted
    directory = mkdtempSync(join(tmpdir(), 'petaldb-single-'))
    const made = [...generateTweets({ count: count + 2 * each * rounds, seed: 1 })] as unknown as Document[]
    ready = made.slice(0, count)
    fresh = made.slice(count)
    store = await openSingleStore(name, directory)
    for (let i = 0; i < count; i += 1000) await store.load(ready.slice(i, Math.min(count, i + 1000)))
    await store.settle?.()
    return store.description
  },

  async round(round: number): Promise<RoundTimes> {
    const { each, count } = input!
    const { insert, get, update, updateOfUser, replace, remove } = store!
    const added = fresh.slice(2 * each * round, 2 * each * (round + 1))
    // The same documents for every store, different ones in each round, spread over the collection.
    const some = Array.from({ length: each }, (_, i) => ready[((round * each + i) * 7919) % count]!)
    const id = (document: Document): number => document._id as number
    const times: RoundTimes = {
      insert: await timed(added.slice(0, each), insert),
      'insert, 100 under way': await timedTogether(added.slice(each), insert),
      'get by _id': await timed(some, (document) => get(id(document))),
      'update by _id': await timed(some, (document) => update(id(document))),
      replace: await timed(some, replace),
      delete: await timed(added, (document) => remove(id(document)))
    }
    if (updateOfUser === undefined) return times
    const byFields = (document: Document): Promise<unknown> => updateOfUser(userName(document), document.timestamp_ms)
    return { ...times, 'update by two fields': await timed(some, byFields) }
  },

  /** Documents on which all stores must agree: some that are replaced and updated again, and a deleted one. */
  async sample(): Promise<readonly (Document | undefined)[]> {
    const found: (Document | undefined)[] = []
    for (let i = 0; i < ready.length; i += Math.ceil(ready.length / 100)) {
      await store!.replace(ready[i]!)
      await store!.update(ready[i]!._id as number)
      found.push(await store!.get(ready[i]!._id as number))
    }
    found.push(await store!.get(fresh[0]!._id as number))
    return found
  },

  async close(): Promise<number> {
    await store!.close()
    const { total } = directoryBytes(directory!)
    rmSync(directory!, { recursive: true, force: true })
    return total
  }
}

function userName(document: Document): string {
  return (document.user as { readonly screen_name: string }).screen_name
}

async function timed(documents: readonly Document[], run: (document: Document) => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  for (const document of documents) await run(document)
  return ((performance.now() - begin) * 1000) / documents.length
}

/** Like timed(), with many operations at a time, as in a busy server. */
async function timedTogether(
  documents: readonly Document[],
  run: (document: Document) => Promise<unknown>
): Promise<number> {
  const begin = performance.now()
  for (let i = 0; i < documents.length; i += underWay) {
    await Promise.all(documents.slice(i, i + underWay).map((document) => run(document)))
  }
  return ((performance.now() - begin) * 1000) / documents.length
}

export type SingleHandlers = typeof handlers

serve(handlers)
