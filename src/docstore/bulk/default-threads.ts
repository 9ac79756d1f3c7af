/** How many threads build the units of a bulk load that is told nothing else (docs/ingest.md). */
import { availableParallelism, totalmem } from 'node:os'

/** Each takes its memory. */
const maxThreads = 4
/** Of the machine's memory, for each thread: it takes a fifth of that. */
const bytesPerThread = 1 << 30

/** One of several processors is left to this thread; where there are two, both are used. */
export function defaultThreads(): number {
  const processors = availableParallelism()
  const wanted = processors < 2 ? 0 : Math.min(maxThreads, Math.max(2, processors - 1))
  return Math.min(wanted, Math.floor(memoryBytes() / bytesPerThread))
}

/** Of the machine, or what this process may have of it. */
function memoryBytes(): number {
  const limit = process.constrainedMemory() ?? 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
