/** Watches the threads that help with reads of this process. */
import type { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'

/** Threads that scan. */
export const scanning = new Set<Worker>()
let decided = 0
process.on('worker', (worker: Worker) => {
  scanning.add(worker)
  worker.on('message', ({ kind }: { kind: string }) => {
    if (kind === 'decided') decided++
  })
  worker.once('exit', () => scanning.delete(worker))
})

/** How many parts threads have decided. */
export function decidedParts(): number {
  return decided
}

/**
 * Repeats something until threads have helped with it: at least 30 times, and for a minute, because they may be
 * starting, or all processors be busy. @throws if they have not by then
 */
export async function soonerOrLater(attempt: () => Promise<unknown>, haveHelped: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  for (let i = 0; !haveHelped() && (i < 30 || performance.now() < end); i++) await attempt()
  assert.ok(haveHelped(), 'threads helped')
}

/** Checks that threads decide parts of a read, sooner or later. */
export function helps(read: () => Promise<unknown>): Promise<void> {
  const before = decided
  return soonerOrLater(read, () => decided > before)
}
