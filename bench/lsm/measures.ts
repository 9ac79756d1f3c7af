/** The measures of one store: each returns microseconds per operation, or per entry for scans and batches. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { BytesLevel } from './store.ts'
import { keyOf, shuffled } from './workload.ts'

export interface Subject {
  readonly db: BytesLevel
  /** Number of entries written by fill(): keyOf(0) … keyOf(count − 1). */
  readonly count: number
  readonly values: readonly Buffer[]
  /** Incremented by every operation, so that reads do not repeat previous ones. */
  turn: number
}

const batchSize = 1_000

/** Microseconds per entry of 1,000-entry batches. */
export async function fill(
  { db, values }: Subject,
  { count, order }: { count: number; order: 'sequential' | 'random' }
): Promise<number> {
  let spent = 0
  for (let start = 0; start < count; start += batchSize) {
    const operations = Array.from({ length: Math.min(batchSize, count - start) }, (_, i) => ({
      type: 'put' as const,
      key: keyOf(order === 'random' ? shuffled(start + i, count) : start + i),
      value: values[(start + i) % values.length]!
    }))
    const begin = performance.now()
    await db.batch(operations)
    spent += performance.now() - begin
  }
  return (spent * 1000) / count
}

/** @param reads number of reads, for measures of reads */
type Measure = (subject: Subject, reads: number) => Promise<number>

const timedReads = 20_000
/** Without them, the first round measures the compiler: 20,000 reads took 37 µs each, the next ones 21. */
export const untimedReads = 5_000

export const measures = {
  'put, awaited one by one': async (subject) => {
    const operations = 20_000
    return each(operations, (i) => subject.db.put(...freshEntry(subject, i)))
  },
  'put, 64 callers': async (subject) => callers(subject, 64, 500, {}),
  'put sync, 1 caller': async (subject) => callers(subject, 1, 200, { sync: true }),
  'put sync, 64 callers': async (subject) => callers(subject, 64, 20, { sync: true }),
  'get, hit': async (subject, reads) => {
    const keys = someKeys(subject, reads)
    return each(reads, (i) => subject.db.get(keys[i]!))
  },
  'get, miss': async (subject, reads) => {
    const keys = someKeys(subject, reads).map((key) => Buffer.concat([key, Buffer.from('x')]))
    return each(reads, (i) => subject.db.get(keys[i]!))
  },
  'getSync, hit': async (subject, reads) => {
    const keys = someKeys(subject, reads)
    const begin = performance.now()
    for (const key of keys) subject.db.getSync(key)
    return ((performance.now() - begin) * 1000) / reads
  },
  'getMany(100), per key': async (subject, reads) => {
    const keys = someKeys(subject, reads)
    const perCall = 100
    return (
      (await each(reads / perCall, (i) => subject.db.getMany(keys.slice(i * perCall, (i + 1) * perCall)))) / perCall
    )
  },
  'iterator, nextv(1000), per entry': async ({ db }, reads) => {
    const begin = performance.now()
    let entries = 0
    // All entries, in timed rounds.
    const limit = reads < timedReads ? reads : -1
    const iterator = db.iterator({ highWaterMarkBytes: 4 << 20, limit } as object)
    for (let got = await iterator.nextv(1000); got.length > 0; got = await iterator.nextv(1000)) entries += got.length
    await iterator.close()
    return ((performance.now() - begin) * 1000) / entries
  },
  'iterator, for await, per entry': async ({ db, count }, reads) => {
    const begin = performance.now()
    let entries = 0
    for await (const [key] of db.iterator({ limit: Math.min(count, reads * 15) })) entries += key.length > 0 ? 1 : 0
    return ((performance.now() - begin) * 1000) / entries
  },
  'get while batches are written': async (subject, reads) => {
    let writing = true
    const writer = (async () => {
      for (let i = 0; writing; i++) {
        await subject.db.batch(
          Array.from({ length: 100 }, (_, j) => {
            const [key, value] = freshEntry(subject, i * 100 + j)
            return { type: 'put' as const, key, value }
          })
        )
        await new Promise(setImmediate)
      }
    })()
    const keys = someKeys(subject, reads)
    const time = await each(reads, (i) => subject.db.get(keys[i]!))
    writing = false
    await writer
    return time
  }
} satisfies Readonly<Record<string, Measure>>

export type MeasureName = keyof typeof measures

export function isRead(name: MeasureName): boolean {
  return !name.startsWith('put')
}

/** Microseconds per operation. */
export function measure(name: MeasureName, subject: Subject): Promise<number> {
  return measures[name](subject, timedReads)
}

/** Runs a measure of reads untimed, so that its code is compiled. */
export async function warmUp(name: MeasureName, subject: Subject): Promise<void> {
  await measures[name](subject, untimedReads)
}

export interface Latencies {
  readonly puts: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
  readonly maxMilliseconds: number
  /** Delay of the event loop during the puts. */
  readonly loopP99Milliseconds: number
  readonly loopMaxMilliseconds: number
}

/** Sixteen callers put random keys as fast as they can. */
export async function sustainedPuts(subject: Subject, puts: number): Promise<Latencies> {
  const latencies = new Float64Array(puts)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let next = 0
  delay.enable()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let i = next++; i < puts; i = next++) {
        const [key, value] = freshEntry(subject, i)
        const begin = performance.now()
        await subject.db.put(key, value)
        latencies[i] = performance.now() - begin
        // Yields to the event loop, like a server between requests.
        if (i % 64 === 0) await new Promise(setImmediate)
      }
    })
  )
  delay.disable()
  latencies.sort()
  return {
    puts,
    medianMilliseconds: latencies[puts >> 1]!,
    p99Milliseconds: latencies[Math.floor(puts * 0.99)]!,
    maxMilliseconds: latencies[puts - 1]!,
    loopP99Milliseconds: delay.percentile(99) / 1e6,
    loopMaxMilliseconds: delay.max / 1e6
  }
}

async function each(operations: number, run: (i: number) => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  for (let i = 0; i < operations; i++) await run(i)
  return ((performance.now() - begin) * 1000) / operations
}

/** Microseconds per put of concurrent callers, each awaiting its own puts. */
async function callers(subject: Subject, concurrent: number, puts: number, options: object): Promise<number> {
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: concurrent }, async (_, caller) => {
      for (let i = 0; i < puts; i++) {
        const [key, value] = freshEntry(subject, caller * puts + i)
        await subject.db.put(key, value, options)
      }
    })
  )
  return ((performance.now() - begin) * 1000) / (concurrent * puts)
}

/** An entry that overwrites another, so that the store keeps its size. */
function freshEntry(subject: Subject, i: number): [Buffer, Buffer] {
  const { count, values } = subject
  return [keyOf(shuffled((i * 7 + subject.turn++) % count, count)), values[i % values.length]!]
}

function someKeys(subject: Subject, amount: number): Buffer[] {
  return Array.from({ length: amount }, () => keyOf(shuffled((subject.turn++ * 13) % subject.count, subject.count)))
}
