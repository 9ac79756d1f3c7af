/** The default numbers of threads: of a bulk load (docs/ingest.md), without which rebuilds use none either, and of a scan. */
import { availableParallelism, totalmem } from 'node:os'

/** Limited, because each needs memory. */
const maxThreads = 4
/** Machine memory per thread, which uses a fifth of it. */
const bytesPerThread = 1 << 30

/** Leaves one of several processors to this thread; with two processors, uses both. */
export function defaultThreads(): number {
  const processors = availableParallelism()
  const wanted = processors < 2 ? 0 : Math.min(maxThreads, Math.max(2, processors - 1))
  return Math.min(wanted, Math.floor(memoryBytes() / bytesPerThread))
}

/** The thread that reads works as well. */
export function defaultScanThreads(): number {
  const wanted = Math.min(maxThreads, availableParallelism()) - 1
  return Math.min(wanted, Math.floor(memoryBytes() / bytesPerThread))
}

/** Asked for once: it is read from files of the system. */
let knownMemoryBytes: number | undefined

/** Memory of the machine, or the limit of this process. */
function memoryBytes(): number {
  if (knownMemoryBytes === undefined) {
    const limit = process.constrainedMemory() ?? 0
    knownMemoryBytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  }
  return knownMemoryBytes
}
