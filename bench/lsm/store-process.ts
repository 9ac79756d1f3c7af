/** The process of one store, in which everything is measured and nothing else runs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { directoryBytes } from '../directory-bytes.ts'
import { serve } from '../rpc.ts'
import { fill, type Latencies, type MeasureName, measure, type Subject, sustainedPuts, warmUp } from './measures.ts'
import { openStore, type StoreName } from './store.ts'
import { keyOf, valuePool } from './workload.ts'

/** The store counts as idle if it used less than this share of one processor for a second. */
const idleShare = 0.02
const maxSettleMilliseconds = 60_000

const root = mkdtempSync(join(tmpdir(), 'petaldb-bench-lsm-'))
let subject: Subject | undefined
let name: StoreName | undefined
let directory = ''
let fills = 0

const handlers = {
  /** Fills a new directory. The last one is kept for the other measures. */
  async fill(options: { name: StoreName; count: number; order: 'sequential' | 'random'; seed: number }) {
    if (subject !== undefined) {
      await subject.db.close()
      rmSync(directory, { recursive: true })
    }
    name = options.name
    directory = join(root, String(fills++))
    subject = {
      db: await openStore(name, directory),
      count: options.count,
      values: subject?.values ?? valuePool(options.seed),
      turn: 0
    }
    globalThis.gc?.()
    const microseconds = await fill(subject, options)
    return { microseconds, rssBytes: process.memoryUsage.rss() }
  },

  async measure(name: MeasureName): Promise<number> {
    globalThis.gc?.()
    return measure(name, opened())
  },

  async warmUp(name: MeasureName): Promise<void> {
    await warmUp(name, opened())
  },

  /** Waits until background work has ended, judging by the processor time of all threads. */
  async settle(): Promise<void> {
    const end = performance.now() + maxSettleMilliseconds
    for (let share = 1; share > idleShare && performance.now() < end; ) {
      const before = process.cpuUsage()
      await new Promise((resolve) => setTimeout(resolve, 1000))
      const { user, system } = process.cpuUsage(before)
      share = (user + system) / 1e6
    }
  },

  async sustainedPuts(puts: number): Promise<Latencies> {
    return sustainedPuts(opened(), puts)
  },

  /** Bytes on disk, now and after everything has been compacted. */
  async size(): Promise<{ bytes: number; compactedBytes: number; seconds: number }> {
    const { db, count } = opened()
    const bytes = directoryBytes(directory).total
    const begin = performance.now()
    await db.compactRange(keyOf(0), keyOf(count))
    const seconds = (performance.now() - begin) / 1000
    await reopen()
    return { bytes, compactedBytes: directoryBytes(directory).total, seconds }
  },

  /** Milliseconds to reopen after a clean close, and until the first value has been read. */
  async open(): Promise<{ milliseconds: number; firstGetMilliseconds: number }> {
    return reopen()
  },

  async memory(): Promise<number> {
    globalThis.gc?.()
    return process.memoryUsage.rss()
  },

  async close(): Promise<void> {
    await opened().db.close()
    rmSync(root, { recursive: true })
  }
}

export type StoreHandlers = typeof handlers

async function reopen(): Promise<{ milliseconds: number; firstGetMilliseconds: number }> {
  const { db, ...rest } = opened()
  await db.close()
  const begin = performance.now()
  const again = await openStore(name!, directory)
  const milliseconds = performance.now() - begin
  await again.get(keyOf(0))
  subject = { ...rest, db: again }
  return { milliseconds, firstGetMilliseconds: performance.now() - begin }
}

function opened(): Subject {
  if (subject === undefined) throw new TypeError('fill first')
  return subject
}

process.once('exit', () => rmSync(root, { recursive: true, force: true }))
serve(handlers)
