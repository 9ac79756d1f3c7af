/** The pool of threads that scan. */
import { startThread } from '../../lsm/start-thread.ts'
import type { ScanMessage, ScanReply } from '../read/parallel/messages.ts'
import { type PooledThread, ThreadPool } from './thread-pool.ts'

export type ScanThread = PooledThread<ScanMessage, ScanReply>

const pool = new ThreadPool<ScanMessage, ScanReply>(() =>
  startThread(import.meta.url, 'scan-thread', { isIsolated: true })
)
let taken = 0

/**
 * @param most threads of all scans of the process
 * @returns undefined if as many are taken, or if none can be started
 */
export function takeScanThread(most: number): ScanThread | undefined {
  if (!isScanThreadFree(most)) return undefined
  try {
    const thread = pool.take()
    taken++
    return thread
  } catch {
    // Reads do without: in a bundle, for example, that has no module for the thread.
    return undefined
  }
}

/** Whether takeScanThread() would try to return one. */
export function isScanThreadFree(most: number): boolean {
  return taken < most
}

/** REQUIRES: the thread owes no reply, or is dead */
export function putBackScanThread(thread: ScanThread): void {
  taken--
  pool.putBack(thread)
}
