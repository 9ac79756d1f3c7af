/** Per-thread priority, which Linux supports but Node.js does not expose. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * Lowers this thread's priority below that of other threads, of this process and the machine, that compete for its
 * core: one that has been waiting, such as the event loop, then continues at once. On other systems priorities are per
 * process, and nothing is done.
 * @param steps of Linux's 40 nice values; each takes a fifth off the thread's share of a contended core
 */
export function lowerThreadPriority(steps: number): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), steps)
  } catch {
    // It then keeps the normal priority.
  }
}
