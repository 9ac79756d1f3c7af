/** The priority of one thread, which Linux has and Node.js does not tell of. */
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * Puts this thread behind the others of its process, and of the machine, that want its processor: one that has waited for
 * something, the event loop say, then goes on at once. Elsewhere than on Linux a priority is that of the whole process, and
 * nothing is done.
 */
export function lowerThreadPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It is as good as the others then.
  }
}
